-- name: newest_prompts
-- The same; the ids come as one text.
SELECT m.session_id, m.timestamp, m.id, b.codec, b.size, CASE WHEN b.size <= :bytes THEN b.data END
FROM json_array_elements_text(CAST(:ids AS JSON)) AS chosen
CROSS JOIN LATERAL (SELECT p.session_id, p.timestamp, p.id, p.commit_id FROM messages p
                    WHERE p.session_id = CAST(chosen AS BIGINT) AND p.role = 'user'
                    ORDER BY p.timestamp DESC, p.id DESC LIMIT 1) m
JOIN commits c ON c.id = m.commit_id
JOIN blobs b ON b.id = c.blob_id;

-- name: newest_calls
-- The same; the ids come as one text.
SELECT m.session_id, m.timestamp, m.id, m.tool_name, b.codec, b.size, CASE WHEN b.size <= :bytes THEN b.data END
FROM json_array_elements_text(CAST(:ids AS JSON)) AS chosen
CROSS JOIN LATERAL (
    SELECT l.* FROM (SELECT p.session_id, p.timestamp, p.id, p.role, p.tool_name, p.commit_id FROM messages p
                     WHERE p.session_id = CAST(chosen AS BIGINT)
                     ORDER BY p.timestamp DESC, p.id DESC LIMIT :turns) l
    WHERE l.role = 'assistant' AND l.tool_name IS NOT NULL ORDER BY l.timestamp DESC, l.id DESC LIMIT 1) m
JOIN commits c ON c.id = m.commit_id
JOIN blobs b ON b.id = c.blob_id;
