-- name: boundaries
-- The newest boundaries of a run of commits: what they say, and the rest of them.
SELECT b.codec, b.size, b.data, c.metadata
FROM commits c JOIN blobs b ON b.id = c.blob_id
WHERE c.segment_id = :segment_id AND c.seq >= :first AND c.seq <= :last AND c.content_type = 'session'
ORDER BY c.seq DESC LIMIT :limit;

-- name: windows
-- A session and those that it continues, with what each has handed on; the newest first.
WITH RECURSIVE before (id, prev_session_id, dehydration_payload, effort_id, step) AS (
    SELECT id, prev_session_id, dehydration_payload, effort_id, 0 FROM sessions WHERE id = :session_id
    UNION ALL
    SELECT s.id, s.prev_session_id, s.dehydration_payload, s.effort_id, b.step + 1
    FROM before b JOIN sessions s ON s.id = b.prev_session_id WHERE b.step < :steps
)
SELECT id, dehydration_payload, effort_id FROM before ORDER BY step;

-- name: prompts
-- What people said in a session: the first of it, and the last.
SELECT b.codec, b.size, b.data
FROM messages m JOIN commits c ON c.id = m.commit_id JOIN blobs b ON b.id = c.blob_id
WHERE m.id IN ((SELECT id FROM messages WHERE session_id = :session_id AND role = 'user'
                ORDER BY timestamp, id LIMIT 1),
               (SELECT id FROM messages WHERE session_id = :session_id AND role = 'user'
                ORDER BY timestamp DESC, id DESC LIMIT 1))
ORDER BY m.timestamp, m.id;

-- name: first_prompts
-- The first of it in each of some sessions.
SELECT m.session_id, b.codec, b.size, b.data
FROM json_each(:ids) chosen
JOIN messages m ON m.id = (SELECT p.id FROM messages p WHERE p.session_id = chosen.value AND p.role = 'user'
                           ORDER BY p.timestamp, p.id LIMIT 1)
JOIN commits c ON c.id = m.commit_id
JOIN blobs b ON b.id = c.blob_id;

-- name: calls
-- The calls of the tools with which agents keep their lists, oldest first, and the answers to what they created, which
-- say by which number it goes.
SELECT m.role, m.tool_name, b.codec, b.size, b.data, c.metadata
FROM (SELECT id FROM messages
      WHERE session_id = :session_id AND tool_name IN ('TodoWrite', 'TaskCreate', 'TaskUpdate', 'update_plan')
        AND (role = 'assistant' OR tool_name = 'TaskCreate')
      ORDER BY timestamp DESC, id DESC LIMIT :limit) p
JOIN messages m ON m.id = p.id
JOIN commits c ON c.id = m.commit_id
JOIN blobs b ON b.id = c.blob_id
ORDER BY m.timestamp, m.id;

-- name: ended_sessions
-- The sessions of an effort that ended last. An effort may have had thousands of sub-agents, so no more are read.
SELECT id FROM sessions WHERE effort_id = :effort_id AND ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT :limit;

-- name: command_runs
-- The calls of tools that run commands, among so many of a session's newest turns, and how each ended; oldest first.
-- Neither a result's text nor that of a very long call is read.
SELECT m.role, m.timestamp, b.codec, b.size, CASE WHEN m.role = 'assistant' AND b.size <= :bytes THEN b.data END,
       c.metadata
FROM (SELECT id FROM messages WHERE session_id = :session_id ORDER BY timestamp DESC, id DESC LIMIT :limit) p
JOIN messages m ON m.id = p.id
JOIN commits c ON c.id = m.commit_id
JOIN blobs b ON b.id = c.blob_id
WHERE m.role IN ('assistant', 'tool')
  AND m.tool_name IN ('Bash', 'bash', 'command_execution', 'exec_command', 'local_shell', 'run_shell_command',
                      'run_terminal_cmd', 'shell', 'shell_command')
ORDER BY m.timestamp, m.id;
