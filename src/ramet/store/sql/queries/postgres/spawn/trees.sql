-- name: of_roots
-- The same; leases run out by the server's time.
SELECT s.id, s.parent_session_id, s.prev_session_id, s.root_session_id, s.spawn_depth, s.task_id, s.effort_id, e.skill,
       s.agent_id, s.driver, s.native_id, s.branch, substr(e.prompt, 1, :characters), s.outcome,
       substr(s.notes, 1, :characters), s.created_at, s.ended_at,
       (SELECT CAST(sum(u.input_tokens + u.output_tokens + u.cache_read_tokens + u.cache_write_tokens) AS BIGINT)
        FROM usage u WHERE u.session_id = s.id),
       (SELECT sum(coalesce(u.cost_usd, u.estimated_usd)) FROM usage u WHERE u.session_id = s.id),
       EXISTS (SELECT 1 FROM usage u
               WHERE u.session_id = s.id AND u.cost_usd IS NULL AND u.estimated_usd IS NOT NULL),
       s.last_heartbeat, s.tools_in_flight IS NOT NULL,
       e.lease_expires_at < to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
       s.ended_at IS NULL AND EXISTS (SELECT 1 FROM efforts c WHERE c.awaited_by = s.id),
       e.spawned_by IS NOT NULL AND s.instance IS NULL AND s.last_heartbeat IS NULL AND s.pid IS NULL,
       s.permission_tool IS NOT NULL,
       CASE WHEN s.instance IS NULL THEN coalesce(s.driver, e.driver) ELSE coalesce(e.driver, s.driver) END,
       e.prompt IS NOT NULL, t.project_id, s.title, s.forked_from_session_id
FROM sessions s JOIN efforts e ON e.id = s.effort_id JOIN tasks t ON t.dir_path = s.task_id
WHERE s.root_session_id IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:ids AS JSON)) AS value)
  AND (CAST(:only AS TEXT) IS NULL
       OR s.id IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:only AS JSON)) AS value))
ORDER BY s.root_session_id, s.id;

-- name: links_of_roots
-- The same; the arrays of this database are read in another way.
SELECT id, parent_session_id, prev_session_id, root_session_id, effort_id FROM sessions
WHERE root_session_id IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:ids AS JSON)) AS value)
ORDER BY root_session_id, id;

-- name: usage_of_roots
-- The same; the arrays of this database are read in another way.
SELECT u.session_id,
       CAST(sum(u.input_tokens + u.output_tokens + u.cache_read_tokens + u.cache_write_tokens) AS BIGINT),
       sum(coalesce(u.cost_usd, u.estimated_usd)),
       max(CASE WHEN u.cost_usd IS NULL AND u.estimated_usd IS NOT NULL THEN 1 ELSE 0 END)
FROM sessions s JOIN usage u ON u.session_id = s.id
WHERE s.root_session_id IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:ids AS JSON)) AS value)
  AND s.id >= :first_id
GROUP BY u.session_id;

-- name: open_children
-- The same; leases run out by the server's time.
SELECT s.id, s.effort_id, substr(e.prompt, 1, :characters), s.created_at, s.last_heartbeat,
       s.tools_in_flight IS NOT NULL,
       e.lease_expires_at < to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
       EXISTS (SELECT 1 FROM efforts c WHERE c.awaited_by = s.id),
       e.spawned_by IS NOT NULL AND s.instance IS NULL AND s.last_heartbeat IS NULL AND s.pid IS NULL,
       s.permission_tool IS NOT NULL
FROM sessions s CROSS JOIN sessions p CROSS JOIN efforts e
WHERE s.ended_at IS NULL AND p.id = s.parent_session_id AND p.effort_id = :effort_id AND e.id = s.effort_id
ORDER BY s.id;
