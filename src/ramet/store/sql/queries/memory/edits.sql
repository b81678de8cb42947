-- name: behind
-- The sessions of a project whose newest call was not read for edits yet, the oldest first.
SELECT s.id AS session_id, s.effort_id, s.driver, s.ended_at IS NULL AS is_open,
       coalesce(r.last_message_id, 0) AS last_message_id, e.worktree, e.workspace
FROM sessions s
JOIN tasks t ON t.dir_path = s.task_id
JOIN efforts e ON e.id = s.effort_id
LEFT JOIN edit_readings r ON r.session_id = s.id
WHERE t.project_id = :project_id AND s.driver IS NOT NULL AND EXISTS (
    SELECT 1 FROM messages m
    WHERE m.session_id = s.id AND m.role = 'assistant' AND m.tool_name IS NOT NULL
      AND m.id > coalesce(r.last_message_id, 0))
ORDER BY s.id LIMIT :limit;

-- name: calls
-- The next calls of tools in a session.
SELECT m.id, m.tool_name, m.timestamp, c.metadata, b.codec, b.size, CASE WHEN b.size <= :bytes THEN b.data END
FROM messages m
JOIN commits c ON c.id = m.commit_id
JOIN blobs b ON b.id = c.blob_id
WHERE m.session_id = :session_id AND m.role = 'assistant' AND m.tool_name IS NOT NULL AND m.id > :after
ORDER BY m.id LIMIT :limit;

-- name: results
-- The results that tools gave in a session from a message on.
SELECT m.id, m.timestamp, c.metadata, b.codec, b.size, CASE WHEN b.size <= :bytes THEN b.data END
FROM messages m
JOIN commits c ON c.id = m.commit_id
JOIN blobs b ON b.id = c.blob_id
WHERE m.session_id = :session_id AND m.role = 'tool' AND m.id > :after AND m.timestamp >= :since
ORDER BY m.id LIMIT :limit;

-- name: put
-- An edit; the same one again changes nothing.
INSERT INTO edits (project_id, effort_id, session_id, message_id, kind, path, part, at_ms, git_commit, origin,
                   is_certain, lines)
VALUES (:project_id, :effort_id, :session_id, :message_id, :kind, :path, :part, :at_ms, :git_commit, :origin,
        :is_certain, :lines)
ON CONFLICT DO NOTHING;

-- name: child
-- An effort that a session of this effort started.
SELECT id FROM efforts WHERE spawned_by IN (SELECT id FROM sessions WHERE effort_id = :effort_id) LIMIT 1;

-- name: read_up_to
-- How far a session was read.
INSERT INTO edit_readings (session_id, last_message_id) VALUES (:session_id, :last_message_id)
ON CONFLICT (session_id) DO UPDATE SET last_message_id = excluded.last_message_id
WHERE excluded.last_message_id > edit_readings.last_message_id;

-- name: of_path
-- The edits of a file in a project, the oldest first.
SELECT id, effort_id, session_id, message_id, kind, path, part, at_ms, git_commit, origin, is_certain, lines
FROM edits WHERE project_id = :project_id AND path = :path ORDER BY id LIMIT :limit;

-- name: commit_maker
-- The effort that made a commit.
SELECT effort_id FROM edits WHERE git_commit = :git_commit AND project_id = :project_id ORDER BY effort_id LIMIT 1;

-- name: maker
-- An effort as an answer needs it.
SELECT e.id AS effort_id, e.task_id, t.title AS task_title, e.skill, e.driver, e.created_at, e.finished_at,
       e.worktree, e.workspace, e.prompt
FROM efforts e JOIN tasks t ON t.dir_path = e.task_id
WHERE e.id = :effort_id AND t.project_id = :project_id;

-- name: began
-- When the first session of an effort began, and the last one ended.
SELECT min(created_at), max(coalesce(ended_at, '9999')) FROM sessions WHERE effort_id = :effort_id;

-- name: call
-- A call: its session, its tool, its place in the history, when it was, and what the tool was given.
SELECT m.session_id, m.tool_name, c.hash, m.timestamp, s.driver, s.report,
       b.codec, b.size, CASE WHEN b.size <= :bytes THEN b.data END
FROM messages m JOIN commits c ON c.id = m.commit_id JOIN sessions s ON s.id = m.session_id
JOIN blobs b ON b.id = c.blob_id
WHERE m.id = :message_id;

-- name: prompt_before
-- The last prompt in a session before a message.
SELECT b.codec, b.size, CASE WHEN b.size <= :bytes THEN b.data END, c.hash
FROM messages m JOIN commits c ON c.id = m.commit_id JOIN blobs b ON b.id = c.blob_id
WHERE m.session_id = :session_id AND m.role = 'user' AND m.timestamp <= :at_ms AND m.id < :message_id
ORDER BY m.timestamp DESC, m.id DESC LIMIT 1;

-- name: last_session
-- The newest session of an effort.
SELECT id, driver, report FROM sessions WHERE effort_id = :effort_id ORDER BY id DESC LIMIT 1;

-- name: notes
-- The newest notes in an effort's log.
SELECT data FROM events WHERE effort_id = :effort_id AND kind = 'session.logged' ORDER BY id DESC LIMIT :limit;
