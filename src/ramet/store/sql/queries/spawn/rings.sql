-- name: own_efforts
-- An effort and every one that was spawned from it, be it over several steps.
WITH RECURSIVE own (id) AS (
    SELECT CAST(:effort_id AS BIGINT)
    UNION
    SELECT e.id FROM own o JOIN sessions s ON s.effort_id = o.id JOIN efforts e ON e.spawned_by = s.id
)
SELECT id FROM own;

-- name: run_efforts
-- The efforts of an effort's run.
SELECT l.id FROM efforts e JOIN efforts l ON l.run_id = e.run_id WHERE e.id = :effort_id;

-- name: needs
-- What an effort is based on or waits for, in one project, and what was tried again of that.
SELECT n.id FROM efforts e JOIN efforts n ON n.id = e.based_on JOIN tasks t ON t.dir_path = n.task_id
WHERE e.id = :effort_id AND t.project_id = :project_id
UNION
SELECT n.id FROM efforts e JOIN efforts n ON n.retry_of = e.based_on JOIN tasks t ON t.dir_path = n.task_id
WHERE e.id = :effort_id AND t.project_id = :project_id
UNION
SELECT n.id FROM dependencies d JOIN efforts n ON n.id = d.needs_id JOIN tasks t ON t.dir_path = n.task_id
WHERE d.effort_id = :effort_id AND t.project_id = :project_id;

-- name: branches
-- The branches of the sessions of an effort.
SELECT branch FROM sessions WHERE effort_id = :effort_id ORDER BY id;
