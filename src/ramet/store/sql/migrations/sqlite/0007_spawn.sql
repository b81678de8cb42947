-- Spawning: children of sessions, what they may use, and what they report.

-- Who spawned an effort, who waits for it now, and the directory in which it works.
ALTER TABLE efforts ADD COLUMN spawned_by INTEGER REFERENCES sessions (id) ON DELETE SET NULL;
ALTER TABLE efforts ADD COLUMN awaited_by INTEGER REFERENCES sessions (id) ON DELETE SET NULL;
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
    session_id      INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    root_session_id INTEGER NOT NULL,
    tokens          INTEGER CHECK (tokens >= 0),
    cost_usd        REAL CHECK (cost_usd >= 0),
    spent_tokens    INTEGER NOT NULL,
    spent_cost_usd  REAL NOT NULL,
    settled_at      TEXT
) STRICT;

CREATE INDEX idx_budgets_root ON budgets (root_session_id, settled_at);

-- One more kind of notice: SQLite changes no check in place.
ALTER TABLE notices RENAME TO old_notices;
CREATE TABLE notices (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    kind         TEXT NOT NULL CHECK (kind IN
                     ('gave_up', 'timeout', 'stuck', 'limit', 'cut', 'run_bound', 'review_bound', 'parked', 'budget')),
    text         TEXT NOT NULL,
    effort_id    INTEGER REFERENCES efforts (id) ON DELETE CASCADE,
    session_id   INTEGER REFERENCES sessions (id) ON DELETE SET NULL,
    created_at   TEXT NOT NULL,
    dismissed_at TEXT,
    dedupe_key   TEXT NOT NULL UNIQUE
) STRICT;

INSERT INTO notices (id, kind, text, effort_id, session_id, created_at, dismissed_at, dedupe_key)
SELECT id, kind, text, effort_id, session_id, created_at, dismissed_at, dedupe_key FROM old_notices;
DROP TABLE old_notices;
CREATE INDEX idx_notices_open ON notices (id) WHERE dismissed_at IS NULL;
-- A parent is told what the notices of its child say.
CREATE INDEX idx_notices_effort ON notices (effort_id);
