-- name: answered
-- Those of some sessions, whose ids come as one text, in which the agent spoke last, and for no tool.
SELECT m.session_id
FROM json_array_elements_text(CAST(:ids AS JSON)) AS chosen
CROSS JOIN LATERAL (SELECT l.session_id, l.role, l.tool_name FROM messages l
                    WHERE l.session_id = CAST(chosen AS BIGINT)
                    ORDER BY l.timestamp DESC, l.id DESC LIMIT 1) m
WHERE m.role = 'assistant' AND m.tool_name IS NULL;
