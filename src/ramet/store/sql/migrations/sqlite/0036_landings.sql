-- The landing queue: what is to be merged into a branch of a repository, in which order, and what became of it. One
-- landing at a time moves a target.

CREATE TABLE landings (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id       INTEGER NOT NULL REFERENCES projects (id),
    host             TEXT NOT NULL,
    directory        TEXT NOT NULL,
    repository       TEXT NOT NULL,
    target           TEXT NOT NULL,
    kind             TEXT NOT NULL CHECK (kind IN ('work', 'undo')),
    method           TEXT NOT NULL CHECK (method IN ('merge', 'squash', 'rebase')),
    state            TEXT NOT NULL CHECK (state IN
                         ('queued', 'landing', 'landed', 'failed', 'conflicted', 'stopped', 'dropped', 'undone')),
    efforts          TEXT NOT NULL,
    needs            TEXT NOT NULL,
    undoes           INTEGER REFERENCES landings (id),
    branch           TEXT NOT NULL,
    head             TEXT NOT NULL,
    left_out         TEXT NOT NULL,
    message          TEXT NOT NULL,
    checks           TEXT NOT NULL,
    reason           TEXT,
    files            TEXT NOT NULL,
    log              TEXT,
    tip              TEXT,
    tested           TEXT,
    attempts         INTEGER NOT NULL DEFAULT 0,
    created_at       TEXT NOT NULL,
    finished_at      TEXT,
    lease_owner      TEXT,
    lease_generation INTEGER NOT NULL DEFAULT 0,
    lease_expires_at TEXT,
    CHECK ((state = 'landing') = (lease_owner IS NOT NULL)),
    CHECK ((lease_owner IS NULL) = (lease_expires_at IS NULL))
) STRICT;

CREATE UNIQUE INDEX idx_landings_lander ON landings (host, repository, target) WHERE state = 'landing';
CREATE INDEX idx_landings_open ON landings (host, id) WHERE state IN ('queued', 'landing');
CREATE INDEX idx_landings_project ON landings (project_id, id);

-- One more kind of notice: SQLite changes no check in place.
ALTER TABLE notices RENAME TO old_notices;
CREATE TABLE notices (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    kind         TEXT NOT NULL CHECK (kind IN
                     ('changed_files', 'unreadable_verdict', 'gave_up', 'timeout', 'stuck', 'limit', 'cut', 'run_bound',
                      'review_bound', 'parked', 'budget', 'refused', 'damaged', 'landing')),
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
CREATE INDEX idx_notices_effort ON notices (effort_id);
