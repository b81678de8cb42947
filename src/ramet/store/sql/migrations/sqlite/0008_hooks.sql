-- Hooks: sessions that people start themselves, their transcripts, and what they were told.

-- A turn that a hook told of before the transcript had it.
ALTER TABLE messages ADD COLUMN is_provisional INTEGER NOT NULL DEFAULT 0 CHECK (is_provisional IN (0, 1));
CREATE INDEX idx_messages_provisional ON messages (session_id) WHERE is_provisional = 1;

-- What people said is looked for among many more turns of tools.
CREATE INDEX idx_messages_prompts ON messages (session_id, timestamp) WHERE role = 'user';

-- So is what an agent said with the tools with which it keeps its list.
CREATE INDEX idx_messages_lists ON messages (session_id, timestamp)
    WHERE tool_name IN ('TodoWrite', 'TaskCreate', 'TaskUpdate', 'update_plan');

-- The boundaries in a history are few among all that was said.
CREATE INDEX idx_commits_boundaries ON commits (segment_id, seq) WHERE content_type = 'session';

-- How far the transcript of a session was read.
CREATE TABLE ingests (
    path       TEXT PRIMARY KEY NOT NULL,
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    read_bytes INTEGER NOT NULL CHECK (read_bytes >= 0),
    inode      INTEGER,
    at         TEXT NOT NULL
) STRICT;

CREATE INDEX idx_ingests_session ON ingests (session_id);

-- The directories that a session has come to, without a hash, and the directives that it was told, with theirs.
CREATE TABLE discoveries (
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    path       TEXT NOT NULL,
    hash       TEXT,
    PRIMARY KEY (session_id, path)
) STRICT;

-- The thoughts in a transcript that are in the session's history: they have no message to be known by.
CREATE TABLE thoughts (
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    source_key TEXT NOT NULL,
    PRIMARY KEY (session_id, source_key)
) STRICT;

-- A copy of a session repeats what the original has used.
CREATE INDEX idx_usage_key ON usage (key);

-- Few of the many things that a session says it used have a cost.
CREATE INDEX idx_usage_cost ON usage (session_id) WHERE cost_usd IS NOT NULL;

-- Where several machines share a database: the one that has the process of a session which somebody started by hand.
ALTER TABLE sessions ADD COLUMN host TEXT;

-- A program that begins a new context is known by its process.
CREATE INDEX idx_sessions_pid ON sessions (pid) WHERE pid IS NOT NULL AND instance IS NULL;

-- The one nearest the root speaks for an agent whose sub-agents serve its own effort.
DROP VIEW fleet_status;
CREATE VIEW fleet_status AS
SELECT a.id AS agent, a.label, e.skill, e.current_phase, s.heartbeat_counter, s.context_usage,
       e.task_id, e.id AS effort_id, e.ordinal, s.id AS session_id, s.last_heartbeat,
       coalesce(s.created_at, e.created_at) AS since, e.lease_expires_at, s.tools_in_flight
FROM agents a
JOIN efforts e ON e.id = a.effort_id
LEFT JOIN sessions s ON s.id = (
    SELECT o.id FROM sessions o
    WHERE o.effort_id = e.id AND o.ended_at IS NULL AND (o.agent_id = a.id OR o.agent_id IS NULL)
    ORDER BY o.spawn_depth, o.id DESC LIMIT 1
);
