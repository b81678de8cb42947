-- name: existing_notes
-- Which of some notes still have their text.
SELECT v.id FROM json_array_elements_text(CAST(:ids AS JSON)) chosen JOIN events v ON v.id = CAST(chosen AS BIGINT)
WHERE v.data IS NOT NULL;

-- name: existing_messages
-- Which of some messages are still there.
SELECT m.id FROM json_array_elements_text(CAST(:ids AS JSON)) chosen JOIN messages m ON m.id = CAST(chosen AS BIGINT);

-- name: existing_sessions
-- Which of some sessions are still there.
SELECT s.id FROM json_array_elements_text(CAST(:ids AS JSON)) chosen JOIN sessions s ON s.id = CAST(chosen AS BIGINT);

-- name: named_sessions
-- What is shown of sessions beside a hit.
SELECT s.id, s.title, s.driver, s.native_id, s.agent_id
FROM json_array_elements_text(CAST(:ids AS JSON)) chosen JOIN sessions s ON s.id = CAST(chosen AS BIGINT);

-- name: message_commits
-- The commits that carry some messages.
SELECT m.id, c.hash
FROM json_array_elements_text(CAST(:ids AS JSON)) chosen
JOIN messages m ON m.id = CAST(chosen AS BIGINT) JOIN commits c ON c.id = m.commit_id;

