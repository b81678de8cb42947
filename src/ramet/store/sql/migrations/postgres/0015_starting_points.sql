-- Where an effort starts: the commit, its branch if it had one, and the commit of the uncommitted changes that were
-- taken along. Lines of a run have what their run has.

ALTER TABLE efforts ADD COLUMN base_commit TEXT;
ALTER TABLE efforts ADD COLUMN base_branch TEXT;
ALTER TABLE efforts ADD COLUMN base_changes TEXT;

ALTER TABLE runs ADD COLUMN base_commit TEXT;
ALTER TABLE runs ADD COLUMN base_branch TEXT;
ALTER TABLE runs ADD COLUMN base_changes TEXT;

-- Views have the columns that their tables had when they were made.
DROP VIEW active_efforts;
CREATE VIEW active_efforts AS
SELECT e.*, coalesce(s.name, e.skill) AS skill_name
FROM efforts e
JOIN tasks t ON t.dir_path = e.task_id
LEFT JOIN skills s ON s.project_id = t.project_id AND s.name = e.skill
WHERE e.lifecycle = 'active';

DROP VIEW efforts_shown;

CREATE VIEW efforts_shown AS
SELECT e.*, n.blocked_by, n.blocked_status
FROM efforts e
LEFT JOIN LATERAL (
    SELECT m.id AS blocked_by, coalesce(m.outcome, m.lifecycle) AS blocked_status
    FROM dependencies d JOIN efforts m ON m.id = d.needs_id
    WHERE d.effort_id = e.id AND e.lifecycle = 'queued' AND m.outcome IS DISTINCT FROM 'success'
      AND (d.needs = 'success' OR m.outcome IS NULL)
    ORDER BY m.id LIMIT 1
) n ON true;
