-- name: sources
-- Whether a session has turns from a transcript, and turns that a keeper reported, which have no key.
SELECT EXISTS (SELECT 1 FROM messages
               WHERE session_id = :session_id AND source_key IS NOT NULL AND is_provisional = 0),
       EXISTS (SELECT 1 FROM messages WHERE session_id = :session_id AND source_key IS NULL);

-- name: begin
-- A transcript that is to be read; one that is known stays where it is.
INSERT INTO ingests (path, session_id, read_bytes, inode, at) VALUES (:path, :session_id, 0, NULL, :now)
ON CONFLICT (path) DO NOTHING
RETURNING path;

-- name: put
-- How far a transcript was read. Whose it is does not change by that.
INSERT INTO ingests (path, session_id, read_bytes, inode, at) VALUES (:path, :session_id, :read_bytes, :inode, :now)
ON CONFLICT (path) DO UPDATE SET
    read_bytes = excluded.read_bytes, inode = excluded.inode, at = excluded.at;

-- name: hand_on
-- What follows in a session's transcript is another session's.
UPDATE ingests SET session_id = :to WHERE session_id = :of;

-- name: everything
-- Which transcripts are read, and how far.
SELECT i.session_id, i.path, i.read_bytes, i.inode, i.at, s.driver, s.ended_at IS NULL
FROM ingests i JOIN sessions s ON s.id = i.session_id
ORDER BY i.session_id, i.path;

-- name: of_session
-- The same of one session.
SELECT i.session_id, i.path, i.read_bytes, i.inode, i.at, s.driver, s.ended_at IS NULL
FROM ingests i JOIN sessions s ON s.id = i.session_id
WHERE i.session_id = :session_id
ORDER BY i.path;

-- name: of_path
-- The same of one file.
SELECT i.session_id, i.path, i.read_bytes, i.inode, i.at, s.driver, s.ended_at IS NULL
FROM ingests i JOIN sessions s ON s.id = i.session_id
WHERE i.path = :path;

-- name: is_known
-- Whether a turn of a transcript is there already.
SELECT 1 FROM messages WHERE source_key = :source_key;

-- name: known_among
-- Which of some turns are there already.
SELECT m.source_key FROM json_each(:keys) asked JOIN messages m ON m.source_key = asked.value;

-- name: add_thought
-- A thought of a transcript comes into a history; no row where it is there.
INSERT INTO thoughts (session_id, source_key) VALUES (:session_id, :source_key)
ON CONFLICT DO NOTHING
RETURNING source_key;

-- name: tool_of_call
-- The tool of the newest call whose payload has a mark in it. Calls are near their results, so it is looked for among
-- the latest turns alone: a session may be long, and the call not in it.
SELECT latest.tool_name
FROM (SELECT id, role, commit_id, tool_name, timestamp FROM messages WHERE session_id = :session_id
      ORDER BY timestamp DESC, id DESC LIMIT 200) latest
JOIN commits c ON c.id = latest.commit_id
WHERE latest.role = 'assistant' AND latest.tool_name IS NOT NULL AND replace(c.metadata, :mark, '') <> c.metadata
ORDER BY latest.timestamp DESC, latest.id DESC LIMIT 1;

-- name: alive
-- A transcript that grows is a sign of life too; an older one than we know says nothing.
UPDATE sessions SET last_heartbeat = :at
WHERE id = :id AND ended_at IS NULL AND coalesce(last_heartbeat, '') < :at;
