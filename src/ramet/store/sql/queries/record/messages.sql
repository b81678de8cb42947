-- name: transcript
-- A session's id and agent, and where its branch stands: all that an append needs, in one look.
SELECT s.id, s.agent_id, b.id, c.segment_id, coalesce(c.seq, 0), c.id, c.hash, coalesce(c.token_sum, 0)
FROM sessions s
JOIN branches b ON b.name = s.branch
LEFT JOIN commits c ON c.id = b.commit_id
WHERE s.id = :session_id;

-- name: native_transcript
-- The same for a session named by the vendor's own id.
SELECT s.id, s.agent_id, b.id, c.segment_id, coalesce(c.seq, 0), c.id, c.hash, coalesce(c.token_sum, 0)
FROM sessions s
JOIN branches b ON b.name = s.branch
LEFT JOIN commits c ON c.id = b.commit_id
WHERE s.driver = :driver AND s.native_id = :native_id;

-- name: insert
-- One turn of a transcript.
INSERT INTO messages (session_id, role, commit_id, tool_name, timestamp, source_key)
VALUES (:session_id, :role, :commit_id, :tool_name, :now_ms, :source_key)
RETURNING id;

-- name: page
-- A part of a transcript in order. The ids are found in the index first, so that skipping reads no content.
SELECT m.id, m.session_id, m.role, m.tool_name, m.timestamp, m.source_key, c.hash, b.codec, b.size, b.data
FROM (SELECT id FROM messages WHERE session_id = :session_id ORDER BY timestamp, id LIMIT :limit OFFSET :offset) p
JOIN messages m ON m.id = p.id
JOIN commits c ON c.id = m.commit_id
JOIN blobs b ON b.id = c.blob_id
ORDER BY m.timestamp, m.id;

-- name: newest
-- The end of a transcript in order. The ids are found in the index first, so that only what is shown is read.
SELECT m.id, m.session_id, m.role, m.tool_name, m.timestamp, m.source_key, c.hash, b.codec, b.size, b.data
FROM (SELECT id FROM messages WHERE session_id = :session_id ORDER BY timestamp DESC, id DESC LIMIT :limit) p
JOIN messages m ON m.id = p.id
JOIN commits c ON c.id = m.commit_id
JOIN blobs b ON b.id = c.blob_id
ORDER BY m.timestamp, m.id;

-- name: count
-- How many messages a transcript has.
SELECT count(*) FROM messages WHERE session_id = :session_id;

-- name: newest_prompts
-- The newest prompt in each of some sessions; the text of a very long one is not read.
SELECT m.session_id, m.timestamp, m.id, b.codec, b.size, CASE WHEN b.size <= :bytes THEN b.data END
FROM json_each(:ids) chosen
JOIN messages m ON m.id = (SELECT p.id FROM messages p WHERE p.session_id = chosen.value AND p.role = 'user'
                           ORDER BY p.timestamp DESC, p.id DESC LIMIT 1)
JOIN commits c ON c.id = m.commit_id
JOIN blobs b ON b.id = c.blob_id;

-- name: newest_calls
-- The newest tool call in each of some sessions, among so many of their newest turns, and what the tool was given.
SELECT m.session_id, m.timestamp, m.id, m.tool_name, b.codec, b.size, CASE WHEN b.size <= :bytes THEN b.data END
FROM json_each(:ids) chosen
JOIN messages m ON m.id = (
    SELECT l.id FROM (SELECT p.id, p.role, p.tool_name, p.timestamp FROM messages p WHERE p.session_id = chosen.value
                      ORDER BY p.timestamp DESC, p.id DESC LIMIT :turns) l
    WHERE l.role = 'assistant' AND l.tool_name IS NOT NULL ORDER BY l.timestamp DESC, l.id DESC LIMIT 1)
JOIN commits c ON c.id = m.commit_id
JOIN blobs b ON b.id = c.blob_id;
