-- name: of_roots
-- The sessions of some trees, older ones first, with what each used and all that its status follows from. If `only` is
-- not null, only the sessions that it names.
SELECT s.id, s.parent_session_id, s.prev_session_id, s.root_session_id, s.spawn_depth, s.task_id, s.effort_id, e.skill,
       s.agent_id, s.driver, s.native_id, s.branch, substr(e.prompt, 1, :characters), s.outcome,
       substr(s.notes, 1, :characters), s.created_at, s.ended_at,
       (SELECT CAST(sum(u.input_tokens + u.output_tokens + u.cache_read_tokens + u.cache_write_tokens) AS BIGINT)
        FROM usage u WHERE u.session_id = s.id),
       (SELECT sum(coalesce(u.cost_usd, u.estimated_usd)) FROM usage u WHERE u.session_id = s.id),
       EXISTS (SELECT 1 FROM usage u
               WHERE u.session_id = s.id AND u.cost_usd IS NULL AND u.estimated_usd IS NOT NULL),
       s.last_heartbeat, s.tools_in_flight IS NOT NULL, e.lease_expires_at < :now,
       s.ended_at IS NULL AND EXISTS (SELECT 1 FROM efforts c WHERE c.awaited_by = s.id),
       e.spawned_by IS NOT NULL AND s.instance IS NULL AND s.last_heartbeat IS NULL AND s.pid IS NULL,
       s.permission_tool IS NOT NULL,
       CASE WHEN s.instance IS NULL THEN coalesce(s.driver, e.driver) ELSE coalesce(e.driver, s.driver) END,
       e.prompt IS NOT NULL, t.project_id, s.title, s.forked_from_session_id
FROM sessions s JOIN efforts e ON e.id = s.effort_id JOIN tasks t ON t.dir_path = s.task_id
WHERE s.root_session_id IN (SELECT CAST(value AS BIGINT) FROM json_each(:ids))
  AND (CAST(:only AS TEXT) IS NULL OR s.id IN (SELECT CAST(value AS BIGINT) FROM json_each(:only)))
ORDER BY s.root_session_id, s.id;

-- name: links_of_roots
-- How the sessions of some trees follow from each other, in the same order: all that a page of a tree needs of the rest.
SELECT id, parent_session_id, prev_session_id, root_session_id, effort_id FROM sessions
WHERE root_session_id IN (SELECT CAST(value AS BIGINT) FROM json_each(:ids))
ORDER BY root_session_id, id;

-- name: usage_of_roots
-- What each session of some trees used itself, from a session on.
SELECT u.session_id,
       CAST(sum(u.input_tokens + u.output_tokens + u.cache_read_tokens + u.cache_write_tokens) AS BIGINT),
       sum(coalesce(u.cost_usd, u.estimated_usd)),
       max(CASE WHEN u.cost_usd IS NULL AND u.estimated_usd IS NOT NULL THEN 1 ELSE 0 END)
FROM sessions s JOIN usage u ON u.session_id = s.id
WHERE s.root_session_id IN (SELECT CAST(value AS BIGINT) FROM json_each(:ids)) AND s.id >= :first_id
GROUP BY u.session_id;

-- name: open_children
-- The open sessions below those of an effort, with all that their status follows from. Of all sessions few are open,
-- of those below an effort perhaps very many have ended: CROSS and coalesce keep the planner from looking through these.
SELECT s.id, s.effort_id, substr(e.prompt, 1, :characters), s.created_at, s.last_heartbeat,
       s.tools_in_flight IS NOT NULL, e.lease_expires_at < :now,
       EXISTS (SELECT 1 FROM efforts c WHERE c.awaited_by = s.id),
       e.spawned_by IS NOT NULL AND s.instance IS NULL AND s.last_heartbeat IS NULL AND s.pid IS NULL,
       s.permission_tool IS NOT NULL
FROM sessions s CROSS JOIN sessions p CROSS JOIN efforts e
WHERE s.ended_at IS NULL AND p.id = coalesce(s.parent_session_id, 0) AND p.effort_id = :effort_id AND e.id = s.effort_id
ORDER BY s.id;

-- name: of_effort
-- The sessions that serve an effort.
SELECT id, root_session_id FROM sessions WHERE effort_id = :name ORDER BY id;

-- name: of_task
-- The sessions of a task.
SELECT id, root_session_id FROM sessions WHERE task_id = :name ORDER BY id;

-- name: of_run
-- The sessions of a run's lines.
SELECT s.id, s.root_session_id FROM efforts e JOIN sessions s ON s.effort_id = e.id WHERE e.run_id = :name ORDER BY s.id;
