-- name: everything
-- All agents by id, in the order that SQLite has too, whatever the server's own language.
SELECT a.id, a.label, a.claims, a.effort_id, e.skill, e.current_phase, e.task_id, t.project_id
FROM agents a LEFT JOIN efforts e ON e.id = a.effort_id LEFT JOIN tasks t ON t.dir_path = e.task_id
WHERE CAST(:project_id AS BIGINT) IS NULL OR t.project_id IS NULL OR t.project_id = :project_id
ORDER BY a.id COLLATE "C";

-- name: fleet
-- Who is doing what, in the same order; leases run out by the server's time.
SELECT f.*, f.lease_expires_at < to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS is_lease_over,
       substr(e.prompt, 1, 200) AS goal, e.prompt IS NOT NULL AS is_queued, s.native_id, s.title,
       CASE WHEN s.instance IS NULL THEN coalesce(s.driver, e.driver) ELSE coalesce(e.driver, s.driver) END AS driver_name,
       (SELECT sum(coalesce(u.cost_usd, u.estimated_usd)) FROM usage u
        WHERE u.session_id = f.session_id AND (u.cost_usd IS NOT NULL OR u.estimated_usd IS NOT NULL)) AS cost_usd,
       EXISTS (SELECT 1 FROM usage u WHERE u.session_id = f.session_id AND u.cost_usd IS NULL
                                       AND u.estimated_usd IS NOT NULL) AS is_cost_estimated,
       EXISTS (SELECT 1 FROM efforts c WHERE c.awaited_by = f.session_id) AS is_awaiting,
       coalesce(s.permission_tool, (SELECT max(o.permission_tool) FROM sessions o
                                    WHERE o.effort_id = f.effort_id AND o.ended_at IS NULL)) AS permission_tool,
       (SELECT CAST(coalesce(sum(r.times), 0) AS BIGINT) FROM refused_calls r WHERE r.effort_id = f.effort_id) AS refused,
       t.project_id
FROM fleet_status f JOIN efforts e ON e.id = f.effort_id JOIN tasks t ON t.dir_path = f.task_id
LEFT JOIN sessions s ON s.id = f.session_id
WHERE CAST(:project_id AS BIGINT) IS NULL OR t.project_id = :project_id
ORDER BY f.agent COLLATE "C";
