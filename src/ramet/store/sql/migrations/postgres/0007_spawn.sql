-- Spawning: children of sessions, what they may use, and what they report.

-- Who spawned an effort, who waits for it now, and the directory in which it works.
ALTER TABLE efforts ADD COLUMN spawned_by BIGINT REFERENCES sessions (id) ON DELETE SET NULL;
ALTER TABLE efforts ADD COLUMN awaited_by BIGINT REFERENCES sessions (id) ON DELETE SET NULL;
ALTER TABLE efforts ADD COLUMN workspace TEXT;
CREATE INDEX idx_efforts_spawned ON efforts (spawned_by) WHERE spawned_by IS NOT NULL;
CREATE INDEX idx_efforts_awaited ON efforts (awaited_by) WHERE awaited_by IS NOT NULL;

ALTER TABLE sessions ADD COLUMN deadline TEXT;
ALTER TABLE sessions ADD COLUMN report TEXT;
CREATE INDEX idx_sessions_parent ON sessions (parent_session_id) WHERE parent_session_id IS NOT NULL;
CREATE INDEX idx_sessions_prev ON sessions (prev_session_id) WHERE prev_session_id IS NOT NULL;

-- What a session and all below it may use; nulls: any amount. What they have used is the sum of their `usage`, counted
-- here with each call so that looking at a bound costs the same however large the tree is. It is settled when nothing
-- more will be used of it: what is left of it is then free for others.
CREATE TABLE budgets (
    session_id      BIGINT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    root_session_id BIGINT NOT NULL,
    tokens          BIGINT CHECK (tokens >= 0),
    cost_usd        DOUBLE PRECISION CHECK (cost_usd >= 0),
    spent_tokens    BIGINT NOT NULL,
    spent_cost_usd  DOUBLE PRECISION NOT NULL,
    settled_at      TEXT
);

CREATE INDEX idx_budgets_root ON budgets (root_session_id, settled_at);

-- One more kind of notice.
ALTER TABLE notices DROP CONSTRAINT notices_kind_check;
ALTER TABLE notices ADD CONSTRAINT notices_kind_check CHECK (kind IN
    ('gave_up', 'timeout', 'stuck', 'limit', 'cut', 'run_bound', 'review_bound', 'parked', 'budget'));

-- A parent is told what the notices of its child say.
CREATE INDEX idx_notices_effort ON notices (effort_id);

-- A view has the columns that its tables had when it was made.
DROP VIEW active_efforts;
CREATE VIEW active_efforts AS
SELECT e.*, coalesce(s.name, e.skill) AS skill_name
FROM efforts e
JOIN tasks t ON t.dir_path = e.task_id
LEFT JOIN skills s ON s.project_id = t.project_id AND s.name = e.skill
WHERE e.lifecycle = 'active';

DROP VIEW stale_sessions;
CREATE VIEW stale_sessions AS
SELECT s.*, t.dir_path AS task_dir
FROM sessions s
JOIN tasks t ON t.dir_path = s.task_id
WHERE s.ended_at IS NULL
  AND coalesce(s.last_heartbeat, s.created_at) < to_char(now() AT TIME ZONE 'UTC' - INTERVAL '5 minutes', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
