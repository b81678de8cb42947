-- Hosts that failed before an agent began: how often in a row, and since when one claims nothing.
CREATE TABLE hosts (
    name         TEXT PRIMARY KEY NOT NULL,
    failures     INTEGER NOT NULL CHECK (failures >= 0),
    failed_at    TEXT,
    reason       TEXT NOT NULL,
    parked_at    TEXT,
    parked_until TEXT,
    CHECK (parked_at IS NOT NULL OR parked_until IS NULL)
);

-- The host that `not_before` is about, if other hosts need not wait; and the host whose clone has the branch.
ALTER TABLE efforts ADD COLUMN avoid_host TEXT;
ALTER TABLE efforts ADD COLUMN git_host TEXT;

-- A session's agent is named after its host, its home there and its slot: `north.1a2b3c4d/1`.
UPDATE efforts e SET git_host = (
    SELECT regexp_replace(s.agent_id, '\.[0-9a-f]{8}/.*$', '') FROM sessions s
    WHERE s.effort_id = e.id AND s.agent_id ~ '\.[0-9a-f]{8}/' ORDER BY s.id DESC LIMIT 1
)
WHERE e.git_branch IS NOT NULL;

-- A server keeps the columns that a view had: these get the new ones too.
DROP VIEW efforts_shown;
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

DROP VIEW active_efforts;
CREATE VIEW active_efforts AS
SELECT e.*, coalesce(s.name, e.skill) AS skill_name
FROM efforts e
JOIN tasks t ON t.dir_path = e.task_id
LEFT JOIN skills s ON s.project_id = t.project_id AND s.name = e.skill
WHERE e.lifecycle = 'active';
