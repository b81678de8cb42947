-- name: instant
-- When a turn of a session was.
SELECT timestamp FROM messages WHERE session_id = :session_id AND id = :message_id;

-- name: newest_turn
-- The last turn of a session.
SELECT id, timestamp FROM messages WHERE session_id = :session_id ORDER BY timestamp DESC, id DESC LIMIT 1;

-- name: around
-- The turns of a session around an instant, oldest first. The ids are found in the index first, and the text of a very
-- long turn is not read.
SELECT m.id, m.role, m.tool_name, m.timestamp, b.codec, b.size, CASE WHEN b.size <= :bytes THEN b.data END, c.metadata
FROM (SELECT id FROM (SELECT id FROM messages
                      WHERE session_id = :session_id
                        AND (timestamp < :at_ms OR (timestamp = :at_ms AND id <= :message_id))
                      ORDER BY timestamp DESC, id DESC LIMIT :before) b
      UNION ALL
      SELECT id FROM (SELECT id FROM messages
                      WHERE session_id = :session_id
                        AND (timestamp > :at_ms OR (timestamp = :at_ms AND id > :message_id))
                      ORDER BY timestamp, id LIMIT :after) a) p
JOIN messages m ON m.id = p.id
JOIN commits c ON c.id = m.commit_id
JOIN blobs b ON b.id = c.blob_id
ORDER BY m.timestamp, m.id;
