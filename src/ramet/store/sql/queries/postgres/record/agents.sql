-- name: everything
-- All agents by id, in the order that SQLite has too, whatever the server's own language.
SELECT a.id, a.label, a.claims, a.effort_id, e.skill, e.current_phase, e.task_id
FROM agents a LEFT JOIN efforts e ON e.id = a.effort_id ORDER BY a.id COLLATE "C";

-- name: fleet
-- Who is doing what, in the same order; leases run out by the server's time.
SELECT f.*, f.lease_expires_at < to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS is_lease_over,
       (SELECT substr(e.prompt, 1, 200) FROM efforts e WHERE e.id = f.effort_id) AS goal,
       (SELECT sum(u.cost_usd) FROM usage u WHERE u.session_id = f.session_id AND u.cost_usd IS NOT NULL) AS cost_usd,
       (SELECT s.native_id FROM sessions s WHERE s.id = f.session_id) AS native_id,
       EXISTS (SELECT 1 FROM efforts c WHERE c.awaited_by = f.session_id) AS is_awaiting
FROM fleet_status f ORDER BY f.agent COLLATE "C";
