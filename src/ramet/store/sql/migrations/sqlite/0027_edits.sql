-- Recorded edits: what tool calls, shell commands and commits of efforts added to files, as hashes of lines in the order
-- of the text around them. They are derived from the history and from git, so that losing them costs only time.

CREATE TABLE edits (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    effort_id  INTEGER NOT NULL REFERENCES efforts (id) ON DELETE CASCADE,
    session_id INTEGER REFERENCES sessions (id) ON DELETE CASCADE,
    message_id INTEGER REFERENCES messages (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL CHECK (kind IN ('tool', 'shell', 'commit')),
    path       TEXT NOT NULL,
    part       INTEGER NOT NULL CHECK (part >= 0),
    at_ms      INTEGER NOT NULL,
    git_commit TEXT,
    origin     TEXT,
    is_certain INTEGER NOT NULL CHECK (is_certain IN (0, 1)),
    lines      BLOB NOT NULL,
    CHECK ((kind = 'commit') = (git_commit IS NOT NULL)),
    CHECK (kind = 'commit' OR message_id IS NOT NULL)
) STRICT;

CREATE INDEX idx_edits_path ON edits (project_id, path);
CREATE UNIQUE INDEX idx_edits_message ON edits (message_id, kind, path, part) WHERE message_id IS NOT NULL;
CREATE UNIQUE INDEX idx_edits_commit ON edits (git_commit, effort_id, path, part) WHERE git_commit IS NOT NULL;
CREATE INDEX idx_edits_session ON edits (session_id) WHERE session_id IS NOT NULL;

-- How far the calls of a session were read for edits.
CREATE TABLE edit_readings (
    session_id      INTEGER PRIMARY KEY NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    last_message_id INTEGER NOT NULL
) STRICT;

-- The calls of tools in a session, in the order in which they are read for edits.
CREATE INDEX idx_messages_calls ON messages (session_id, id) WHERE role = 'assistant' AND tool_name IS NOT NULL;
