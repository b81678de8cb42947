-- name: insert
-- Write down what happened.
INSERT INTO events (kind, at_ms, project_id, task_id, effort_id, session_id, agent_id, dedupe_key, data)
VALUES (:kind, :now_ms, :project_id, :task_id, :effort_id, :session_id, :agent_id, :dedupe_key, :data);

-- name: after
-- Events behind one, in order; a null kind means every kind.
SELECT id, kind, at_ms, project_id, task_id, effort_id, session_id, agent_id, dedupe_key, data
FROM events
WHERE id > :after AND (CAST(:kind AS TEXT) IS NULL OR kind = :kind)
ORDER BY id LIMIT :limit;

-- name: newest
-- The newest events, the last one first; a null kind means every kind.
SELECT id, kind, at_ms, project_id, task_id, effort_id, session_id, agent_id, dedupe_key, data
FROM events WHERE CAST(:kind AS TEXT) IS NULL OR kind = :kind
ORDER BY id DESC LIMIT :limit;

-- name: last
-- The newest event that a reader may have seen.
SELECT coalesce(max(id), 0) FROM events;
