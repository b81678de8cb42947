-- The queue: what an effort waits for, who has it and for how long, what its attempts came to; and what a person has
-- to know of it.

ALTER TABLE efforts ADD COLUMN failure TEXT CHECK (failure IN
    ('transient', 'permanent', 'limit', 'infrastructure', 'timeout', 'unknown'));
ALTER TABLE efforts ADD COLUMN not_before TEXT;
ALTER TABLE efforts ADD COLUMN continues_session_id INTEGER;
ALTER TABLE efforts ADD COLUMN agent_failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE efforts ADD COLUMN host_failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE efforts ADD COLUMN stop_request TEXT;
ALTER TABLE efforts ADD COLUMN changes TEXT;

-- Nearly all efforts are finished. What is looked for again and again is the next of those that wait, and the few that
-- somebody has a lease on.
CREATE INDEX idx_efforts_queue ON efforts (priority DESC, id) WHERE lifecycle = 'queued';
CREATE INDEX idx_efforts_lease ON efforts (lease_expires_at) WHERE lease_expires_at IS NOT NULL;
CREATE INDEX idx_efforts_owner ON efforts (lease_owner) WHERE lease_owner IS NOT NULL;
CREATE INDEX idx_efforts_retry ON efforts (retry_of) WHERE retry_of IS NOT NULL;

ALTER TABLE sessions ADD COLUMN exit_status INTEGER;
ALTER TABLE sessions ADD COLUMN exit_signal INTEGER;
ALTER TABLE sessions ADD COLUMN process_started REAL;
ALTER TABLE sessions ADD COLUMN reported_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN tools_in_flight TEXT;

-- An effort waits until each one that it needs has finished with success.
CREATE TABLE dependencies (
    effort_id INTEGER NOT NULL REFERENCES efforts (id) ON DELETE CASCADE,
    needs_id  INTEGER NOT NULL REFERENCES efforts (id) ON DELETE CASCADE,
    PRIMARY KEY (effort_id, needs_id)
) STRICT;

CREATE INDEX idx_dependencies_needs ON dependencies (needs_id);

-- What a session used. The same key again replaces what it said before, so nothing is counted twice.
CREATE TABLE usage (
    session_id         INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    key                TEXT NOT NULL,
    model              TEXT,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cache_read_tokens  INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    cost_usd           REAL,
    PRIMARY KEY (session_id, key)
) STRICT;

CREATE TABLE notices (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    kind         TEXT NOT NULL CHECK (kind IN
                     ('gave_up', 'timeout', 'stuck', 'limit', 'cut', 'preserved', 'blocked')),
    text         TEXT NOT NULL,
    effort_id    INTEGER REFERENCES efforts (id) ON DELETE CASCADE,
    session_id   INTEGER REFERENCES sessions (id) ON DELETE SET NULL,
    created_at   TEXT NOT NULL,
    dismissed_at TEXT,
    dedupe_key   TEXT NOT NULL UNIQUE
) STRICT;

CREATE INDEX idx_notices_open ON notices (id) WHERE dismissed_at IS NULL;

DROP VIEW fleet_status;

-- Who is doing what. An effort may have several open sessions (sub-agents); the holder's own newest one speaks for it.
CREATE VIEW fleet_status AS
SELECT a.id AS agent, a.label, e.skill, e.current_phase, s.heartbeat_counter, s.context_usage,
       e.task_id, e.id AS effort_id, e.ordinal, s.id AS session_id, s.last_heartbeat,
       coalesce(s.created_at, e.created_at) AS since, e.lease_expires_at, s.tools_in_flight
FROM agents a
JOIN efforts e ON e.id = a.effort_id
LEFT JOIN sessions s ON s.id = (
    SELECT max(o.id) FROM sessions o
    WHERE o.effort_id = e.id AND o.ended_at IS NULL AND (o.agent_id = a.id OR o.agent_id IS NULL)
);
