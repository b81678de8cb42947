-- name: new_messages
-- The messages of a session behind one, in the order in which they were written, with their contents; that of a very
-- long one is not read. The session's own entries are read, however many messages others have written since.
SELECT m.id, m.role, m.tool_name, m.timestamp, m.is_provisional, c.content_type, c.metadata, b.codec, b.size,
       CASE WHEN b.size <= :bytes THEN b.data END
FROM messages m
JOIN commits c ON c.id = m.commit_id
JOIN blobs b ON b.id = c.blob_id
WHERE m.session_id = :session_id AND +m.id > :after
ORDER BY +m.id LIMIT :limit;

-- name: existing_messages
-- Which of some messages are still there.
SELECT m.id FROM json_each(:ids) chosen JOIN messages m ON m.id = chosen.value;

-- name: session
-- What a session says of itself as a whole.
SELECT s.id, s.effort_id, t.project_id, s.driver, s.agent_id,
       s.parent_session_id IS NOT NULL OR s.forked_from_session_id IS NOT NULL, s.title, s.notes, s.report, s.created_at
FROM sessions s JOIN tasks t ON t.dir_path = s.task_id
WHERE s.id = :session_id;

-- name: effort
-- What an effort was asked and what it delivered.
SELECT e.id, t.project_id, e.prompt, e.output_content, e.created_at, coalesce(e.finished_at, e.created_at), e.driver
FROM efforts e JOIN tasks t ON t.dir_path = e.task_id
WHERE e.id = :effort_id;

-- name: phases
-- What was proved of an effort's phases.
SELECT id, phase_label, proof, reason, created_at FROM phase_history
WHERE effort_id = :effort_id AND (proof IS NOT NULL OR reason IS NOT NULL) ORDER BY id;

-- name: findings
-- What a review found.
SELECT f.id, f.severity, f.file, f.line, f.text FROM findings f WHERE f.effort_id = :effort_id ORDER BY f.id;

-- name: sessions_before
-- The sessions before one, the newest first.
SELECT id FROM sessions WHERE id < :before ORDER BY id DESC LIMIT :limit;

-- name: efforts_before
-- The efforts before one, the newest first.
SELECT id FROM efforts WHERE id < :before ORDER BY id DESC LIMIT :limit;

-- name: existing_sessions
-- Which of some sessions are still there.
SELECT s.id FROM json_each(:ids) chosen JOIN sessions s ON s.id = chosen.value;

-- name: existing_notes
-- Which of some notes still have their text.
SELECT v.id FROM json_each(:ids) chosen JOIN events v ON v.id = chosen.value WHERE v.data IS NOT NULL;

-- name: notes
-- The notes in efforts' logs, up to an event.
SELECT v.id, v.at_ms, v.effort_id, v.data FROM events v
WHERE v.id > :after AND v.id <= :last AND v.kind = 'session.logged' AND v.data IS NOT NULL
ORDER BY v.id LIMIT :limit;

-- name: event_mark
-- When an event was written, by which it is recognised.
SELECT at_ms FROM events WHERE id = :id;

-- name: behind
-- How many events follow one, as far as somebody counts.
SELECT count(*) FROM (SELECT id FROM events WHERE id > :after LIMIT :most) counted;

-- name: chunks
-- The texts that programs gave, behind one.
SELECT id, project_id, source_type, source_path, chunk_text, updated_at FROM embeddings
WHERE id > :after AND chunk_text IS NOT NULL ORDER BY id LIMIT :limit;

-- name: chunk
-- One text that a program gave.
SELECT id, project_id, source_type, source_path, chunk_text, updated_at FROM embeddings WHERE id = :id;

-- name: named_sessions
-- What is shown of sessions beside a hit.
SELECT s.id, s.title, s.driver, s.native_id, s.agent_id
FROM json_each(:ids) chosen JOIN sessions s ON s.id = chosen.value;

-- name: message_commits
-- The commits that carry some messages.
SELECT m.id, c.hash FROM json_each(:ids) chosen JOIN messages m ON m.id = chosen.value JOIN commits c ON c.id = m.commit_id;
