-- name: first_prompts
-- The first thing that a person said in each of some sessions, whose ids come as one text.
SELECT m.session_id, b.codec, b.size, b.data
FROM json_array_elements_text(CAST(:ids AS JSON)) AS chosen
CROSS JOIN LATERAL (SELECT p.session_id, p.commit_id FROM messages p
                    WHERE p.session_id = CAST(chosen AS BIGINT) AND p.role = 'user'
                    ORDER BY p.timestamp, p.id LIMIT 1) m
JOIN commits c ON c.id = m.commit_id
JOIN blobs b ON b.id = c.blob_id;
