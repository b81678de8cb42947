-- name: register
-- Register an agent, or change what is given.
INSERT INTO agents (id, label, claims) VALUES (:id, :label, :claims)
ON CONFLICT (id) DO UPDATE SET
    label = coalesce(excluded.label, agents.label),
    claims = coalesce(excluded.claims, agents.claims);

-- name: by_id
-- An agent and what its effort says.
SELECT a.id, a.label, a.claims, a.effort_id, e.skill, e.current_phase, e.task_id, t.project_id
FROM agents a LEFT JOIN efforts e ON e.id = a.effort_id LEFT JOIN tasks t ON t.dir_path = e.task_id WHERE a.id = :id;

-- name: everything
-- All agents by id.
SELECT a.id, a.label, a.claims, a.effort_id, e.skill, e.current_phase, e.task_id, t.project_id
FROM agents a LEFT JOIN efforts e ON e.id = a.effort_id LEFT JOIN tasks t ON t.dir_path = e.task_id
WHERE CAST(:project_id AS BIGINT) IS NULL OR t.project_id IS NULL OR t.project_id = :project_id
ORDER BY a.id;

-- name: holder
-- Who holds an effort.
SELECT id FROM agents WHERE effort_id = :effort_id;

-- name: assign
-- Give an agent an effort, or none.
UPDATE agents SET effort_id = :effort_id WHERE id = :id;

-- name: counts
-- How much there is of everything, and how much of it is going on.
SELECT (SELECT count(*) FROM projects) AS projects, (SELECT count(*) FROM tasks) AS tasks,
       (SELECT count(*) FROM efforts) AS efforts,
       (SELECT count(*) FROM efforts WHERE lifecycle = 'queued') AS queued_efforts,
       (SELECT count(*) FROM efforts WHERE lifecycle = 'active') AS active_efforts,
       (SELECT count(*) FROM sessions) AS sessions,
       (SELECT count(*) FROM sessions WHERE ended_at IS NULL) AS open_sessions,
       (SELECT count(*) FROM messages) AS messages, (SELECT count(*) FROM agents) AS agents;

-- name: fleet
-- Who is doing what and to what end, what it has cost, whose lease has run out, and who waits for a child. An agent that
-- Ramet started has the driver that its effort names, any other one the driver that its session was started with.
SELECT f.*, f.lease_expires_at < :now AS is_lease_over, substr(e.prompt, 1, 200) AS goal,
       e.prompt IS NOT NULL AS is_queued, s.native_id, s.title,
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
ORDER BY f.agent;
