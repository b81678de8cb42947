-- Until f2414985 an effort did not say which agent its run asked for.

-- name: found
-- Whether the database has the superseded text.
SELECT 1 FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name = 'efforts' AND column_name = 'run_order'
AND NOT EXISTS (SELECT 1 FROM information_schema.columns
                WHERE table_schema = current_schema() AND table_name = 'efforts' AND column_name = 'run_agent');

-- name: repair
-- A view has the columns that its tables had when it was made.
ALTER TABLE efforts ADD COLUMN run_agent TEXT;
DROP VIEW active_efforts;
CREATE VIEW active_efforts AS
SELECT e.*, coalesce(s.name, e.skill) AS skill_name
FROM efforts e
JOIN tasks t ON t.dir_path = e.task_id
LEFT JOIN skills s ON s.project_id = t.project_id AND s.name = e.skill
WHERE e.lifecycle = 'active';
