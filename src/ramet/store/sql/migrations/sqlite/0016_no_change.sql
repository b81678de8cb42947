-- One more outcome, `no_change`: the effort's skill changes code, its agent ended well, and no file changed. And two more
-- kinds of notices: a plan or a review changed files, and the verdict of a review cannot be read.
--
-- SQLite changes no check in place. These checks only get wider, so no stored row has to be looked at: the text of the
-- tables changes, as SQLite's documentation of ALTER TABLE describes it, and not the tables that half the schema refers
-- to. RESET reads the schema again; the statements behind it let other connections do so too.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '(''success'', ''error'',', '(''success'', ''no_change'', ''error'',')
WHERE type = 'table' AND name IN ('efforts', 'sessions');
UPDATE sqlite_schema SET sql = replace(sql, '(''gave_up'',', '(''changed_files'', ''unreadable_verdict'', ''gave_up'',')
WHERE type = 'table' AND name = 'notices';
PRAGMA writable_schema = RESET;

-- Whether `no_change` is good enough for an effort's dependents, and for the effort itself of those that it needs.
ALTER TABLE efforts ADD COLUMN accepts_no_change INTEGER NOT NULL DEFAULT 0 CHECK (accepts_no_change IN (0, 1));

-- What a skill's file says that its efforts change: `code`, or null if it does not say.
ALTER TABLE skill_texts ADD COLUMN changes TEXT CHECK (changes IN ('code'));

DROP VIEW efforts_shown;

-- Efforts as people see them: with the first effort that a queued one waits for, and how that one stands.
CREATE VIEW efforts_shown AS
SELECT e.*,
       (SELECT min(d.needs_id) FROM dependencies d
        WHERE d.effort_id = e.id AND e.lifecycle = 'queued' AND EXISTS (
            SELECT 1 FROM efforts m
            WHERE m.id = d.needs_id AND m.outcome IS DISTINCT FROM 'success' AND (d.needs = 'success' OR m.outcome IS NULL)
              AND (m.outcome IS DISTINCT FROM 'no_change' OR e.accepts_no_change + m.accepts_no_change = 0)
        )) AS blocked_by,
       (SELECT coalesce(m.outcome, m.lifecycle) FROM dependencies d JOIN efforts m ON m.id = d.needs_id
        WHERE d.effort_id = e.id AND e.lifecycle = 'queued' AND m.outcome IS DISTINCT FROM 'success'
          AND (d.needs = 'success' OR m.outcome IS NULL)
          AND (m.outcome IS DISTINCT FROM 'no_change' OR e.accepts_no_change + m.accepts_no_change = 0)
        ORDER BY d.needs_id LIMIT 1) AS blocked_status
FROM efforts e;
