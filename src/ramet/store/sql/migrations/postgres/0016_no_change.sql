-- One more outcome, `no_change`: the effort's skill changes code, its agent ended well, and no file changed. And two more
-- kinds of notices: a plan or a review changed files, and the verdict of a review cannot be read.
ALTER TABLE efforts DROP CONSTRAINT efforts_outcome_check;
ALTER TABLE efforts ADD CONSTRAINT efforts_outcome_check
    CHECK (outcome IN ('success', 'no_change', 'error', 'timeout', 'stuck', 'cancelled', 'budget', 'dropped'));
ALTER TABLE sessions DROP CONSTRAINT sessions_outcome_check;
ALTER TABLE sessions ADD CONSTRAINT sessions_outcome_check
    CHECK (outcome IN ('success', 'no_change', 'error', 'timeout', 'stuck', 'cancelled', 'budget', 'dropped'));
ALTER TABLE notices DROP CONSTRAINT notices_kind_check;
ALTER TABLE notices ADD CONSTRAINT notices_kind_check
    CHECK (kind IN ('changed_files', 'unreadable_verdict', 'gave_up', 'timeout', 'stuck', 'limit', 'cut', 'run_bound',
                    'review_bound', 'parked', 'budget'));

-- Whether `no_change` is good enough for an effort's dependents, and for the effort itself of those that it needs.
ALTER TABLE efforts ADD COLUMN accepts_no_change INTEGER NOT NULL DEFAULT 0 CHECK (accepts_no_change IN (0, 1));

-- What a skill's file says that its efforts change: `code`, or null if it does not say.
ALTER TABLE skill_texts ADD COLUMN changes TEXT CHECK (changes IN ('code'));

DROP VIEW efforts_shown;

-- Efforts as people see them: with the first effort that a queued one waits for, and how that one stands.
CREATE VIEW efforts_shown AS
SELECT e.*, n.blocked_by, n.blocked_status
FROM efforts e
LEFT JOIN LATERAL (
    SELECT m.id AS blocked_by, coalesce(m.outcome, m.lifecycle) AS blocked_status
    FROM dependencies d JOIN efforts m ON m.id = d.needs_id
    WHERE d.effort_id = e.id AND e.lifecycle = 'queued' AND m.outcome IS DISTINCT FROM 'success'
      AND (d.needs = 'success' OR m.outcome IS NULL)
      AND (m.outcome IS DISTINCT FROM 'no_change' OR e.accepts_no_change + m.accepts_no_change = 0)
    ORDER BY m.id LIMIT 1
) n ON true;

-- A server keeps the columns that a view had: this one gets the new one too.
DROP VIEW active_efforts;
CREATE VIEW active_efforts AS
SELECT e.*, coalesce(s.name, e.skill) AS skill_name
FROM efforts e
JOIN tasks t ON t.dir_path = e.task_id
LEFT JOIN skills s ON s.project_id = t.project_id AND s.name = e.skill
WHERE e.lifecycle = 'active';
