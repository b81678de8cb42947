-- name: counts
-- How many a session has spawned, how many its whole tree has, and how many of those are unfinished.
SELECT count(CASE WHEN e.spawned_by = :session_id THEN 1 END), count(*),
       count(CASE WHEN e.lifecycle <> 'finished' THEN 1 END)
FROM sessions s JOIN efforts e ON e.spawned_by = s.id
WHERE s.root_session_id = :root_session_id;

-- name: is_within
-- Whether a session serves the effort that another one serves, or was spawned, be it over several steps, by such a one.
WITH RECURSIVE above (effort_id, parent_session_id) AS (
    SELECT effort_id, parent_session_id FROM sessions WHERE id = :session_id
    UNION
    SELECT s.effort_id, s.parent_session_id FROM above a JOIN sessions s ON s.id = a.parent_session_id
)
SELECT 1 FROM above WHERE effort_id = (SELECT effort_id FROM sessions WHERE id = :of) LIMIT 1;

-- name: unfinished_below
-- What was spawned, be it over several steps, by the sessions of an effort, and is not over.
WITH RECURSIVE below (id) AS (
    SELECT e.id FROM sessions s JOIN efforts e ON e.spawned_by = s.id WHERE s.effort_id = :effort_id
    UNION
    SELECT e.id FROM below b JOIN sessions s ON s.effort_id = b.id JOIN efforts e ON e.spawned_by = s.id
)
SELECT e.* FROM below b JOIN efforts e ON e.id = b.id WHERE e.lifecycle <> 'finished' ORDER BY e.id;

-- name: awaited
-- What the sessions of an effort wait for.
SELECT e.* FROM sessions s JOIN efforts e ON e.awaited_by = s.id WHERE s.effort_id = :effort_id ORDER BY e.id;

-- name: stranded
-- What waits outside the queue for somebody who has ended, or of whom nothing is known any more.
SELECT e.* FROM efforts e JOIN sessions s ON s.id = e.awaited_by JOIN efforts p ON p.id = s.effort_id
WHERE e.awaited_by IS NOT NULL AND e.lifecycle = 'queued'
  AND (s.ended_at IS NOT NULL OR (p.lease_owner IS NULL AND e.created_at < :before))
ORDER BY e.id;

-- name: awaited_on
-- What is awaited by sessions whose agents have a name that begins so, or have none.
SELECT e.* FROM efforts e JOIN sessions s ON s.id = e.awaited_by
WHERE e.awaited_by IS NOT NULL
  AND (s.agent_id IS NULL OR substr(s.agent_id, 1, length(CAST(:prefix AS TEXT))) = :prefix)
ORDER BY e.id;

-- name: set_awaited
-- Who waits for an effort; null: nobody.
UPDATE efforts SET awaited_by = :session_id WHERE id = :id
RETURNING *;

-- name: last_report
-- The last closing report of an effort's sessions.
SELECT report FROM sessions WHERE effort_id = :effort_id AND report IS NOT NULL ORDER BY id DESC LIMIT 1;

-- name: notices
-- What a person was told of an effort.
SELECT text FROM notices WHERE effort_id = :effort_id ORDER BY id;

-- name: is_child_alive
-- Whether anything below a session, or that it waits for, has given a sign of life since an instant.
WITH RECURSIVE below (id, last_heartbeat) AS (
    SELECT s.id, s.last_heartbeat FROM sessions s
    WHERE s.ended_at IS NULL
      AND (s.parent_session_id = :session_id
           OR s.effort_id IN (SELECT e.id FROM efforts e WHERE e.awaited_by = :session_id))
    UNION
    SELECT s.id, s.last_heartbeat FROM below b JOIN sessions s ON s.parent_session_id = b.id WHERE s.ended_at IS NULL
)
SELECT 1 FROM below WHERE last_heartbeat >= :since LIMIT 1;
