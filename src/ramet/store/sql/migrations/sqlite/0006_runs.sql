-- Runs: a task file or a chain, whose lines are efforts; what its reviews found. And what lets several machines share
-- the work: which drivers are left alone for a while, and where on each host a project is.

CREATE TABLE runs (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id        INTEGER NOT NULL REFERENCES projects (id),
    task_id           TEXT NOT NULL REFERENCES tasks (dir_path) ON DELETE CASCADE,
    name              TEXT NOT NULL,
    mode              TEXT NOT NULL CHECK (mode IN ('sequential', 'parallel', 'chain')),
    content_hash      TEXT,
    limits            TEXT NOT NULL,
    stop_on_failure   INTEGER NOT NULL CHECK (stop_on_failure IN (0, 1)),
    save_conversation INTEGER NOT NULL CHECK (save_conversation IN (0, 1)),
    branch            TEXT,
    created_at        TEXT NOT NULL,
    started_at        TEXT NOT NULL,
    attender          TEXT,
    attended_until    TEXT,
    finished_at       TEXT,
    archived_at       TEXT,
    reason            TEXT,
    CHECK ((attender IS NULL) = (attended_until IS NULL))
) STRICT;

-- What the reviews of a chain found, each thing once: the round and the review that last said it.
CREATE TABLE findings (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id      INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    effort_id   INTEGER REFERENCES efforts (id) ON DELETE SET NULL,
    round       INTEGER NOT NULL CHECK (round >= 1),
    fingerprint TEXT NOT NULL,
    severity    TEXT NOT NULL CHECK (severity IN ('BLOCKER', 'FOLLOWUP', 'NIT')),
    file        TEXT,
    line        INTEGER,
    text        TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('open', 'gone')),
    UNIQUE (run_id, fingerprint)
) STRICT;

-- Drivers whose account is at a limit, or that failed again and again.
CREATE TABLE parked (
    driver   TEXT PRIMARY KEY NOT NULL,
    until    TEXT,
    reason   TEXT NOT NULL,
    failures INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Where on each host a project is.
CREATE TABLE project_paths (
    project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    host       TEXT NOT NULL,
    path       TEXT NOT NULL CHECK (path LIKE '/%'),
    PRIMARY KEY (project_id, host),
    UNIQUE (host, path)
) STRICT;

ALTER TABLE projects ADD COLUMN remote TEXT;
CREATE UNIQUE INDEX idx_projects_remote ON projects (remote) WHERE remote IS NOT NULL;

ALTER TABLE efforts ADD COLUMN run_line TEXT;
ALTER TABLE efforts ADD COLUMN run_order INTEGER;
ALTER TABLE efforts ADD COLUMN run_agent TEXT;
CREATE INDEX idx_efforts_run ON efforts (run_id, run_order) WHERE run_id IS NOT NULL;

-- A worker looks for efforts of one run, or for those of none: the others must not be in its way.
DROP INDEX idx_efforts_queue;
CREATE INDEX idx_efforts_queue ON efforts (coalesce(run_id, 0), priority DESC, id) WHERE lifecycle = 'queued';

-- A line of a run waits for the end of what it needs, however that ended.
ALTER TABLE dependencies ADD COLUMN needs TEXT NOT NULL DEFAULT 'success' CHECK (needs IN ('success', 'end'));

-- More kinds of notices: SQLite changes no check in place.
ALTER TABLE notices RENAME TO old_notices;
CREATE TABLE notices (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    kind         TEXT NOT NULL CHECK (kind IN
                     ('gave_up', 'timeout', 'stuck', 'limit', 'cut', 'run_bound', 'review_bound', 'parked')),
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
