-- name: by_native
-- All that a hook needs to know of its session and of what its effort asks for, by the vendor's own id, in one look.
SELECT s.id, s.task_id, s.effort_id, s.agent_id, s.driver, s.native_id, s.instance IS NOT NULL, s.ended_at IS NOT NULL,
       s.heartbeat_counter, s.tools_in_flight, s.loaded_files, s.context_usage, s.dehydration_payload IS NOT NULL,
       s.pid, s.last_heartbeat, s.permission_tool,
       CASE WHEN lower(k.directives) LIKE '%heartbeat%' OR lower(k.phases) LIKE '%heartbeat%' THEN 1 ELSE 0 END,
       (SELECT m.source FROM missed_starts m WHERE m.session_id = s.id)
FROM sessions s
JOIN efforts e ON e.id = s.effort_id
JOIN tasks t ON t.dir_path = e.task_id
LEFT JOIN skills k ON k.project_id = t.project_id AND k.name = e.skill
WHERE s.driver = :driver AND s.native_id = :native_id;

-- name: by_id
-- The same by the session's own id.
SELECT s.id, s.task_id, s.effort_id, s.agent_id, s.driver, s.native_id, s.instance IS NOT NULL, s.ended_at IS NOT NULL,
       s.heartbeat_counter, s.tools_in_flight, s.loaded_files, s.context_usage, s.dehydration_payload IS NOT NULL,
       s.pid, s.last_heartbeat, s.permission_tool,
       CASE WHEN lower(k.directives) LIKE '%heartbeat%' OR lower(k.phases) LIKE '%heartbeat%' THEN 1 ELSE 0 END,
       (SELECT m.source FROM missed_starts m WHERE m.session_id = s.id)
FROM sessions s
JOIN efforts e ON e.id = s.effort_id
JOIN tasks t ON t.dir_path = e.task_id
LEFT JOIN skills k ON k.project_id = t.project_id AND k.name = e.skill
WHERE s.id = :session_id;

-- name: beat
-- A sign of life: so many more calls of tools, those that have not come back, the files that were read, and the tool
-- for which a person is asked for permission.
UPDATE sessions SET last_heartbeat = :now, heartbeat_counter = heartbeat_counter + :calls, tools_in_flight = :tools,
                    loaded_files = coalesce(:files, loaded_files), permission_tool = :permission
WHERE id = :id;

-- name: take_back
-- Calls of tools are over of which no hook has told, and with them the dialog about one; these are left.
UPDATE sessions SET tools_in_flight = :left, permission_tool = NULL WHERE id = :id;

-- name: set_process
-- The process in which a context window is open, as far as that is known. A keeper knows its agent's itself.
UPDATE sessions SET pid = :pid, process_started = :started, host = :host WHERE id = :id AND instance IS NULL;

-- name: processes
-- The processes of a machine in which sessions are open that no keeper holds.
SELECT id, pid, process_started FROM sessions
WHERE ended_at IS NULL AND instance IS NULL AND pid IS NOT NULL AND process_started IS NOT NULL
  AND coalesce(host, '') = coalesce(CAST(:host AS TEXT), '')
ORDER BY id;

-- name: last_turn
-- Who spoke last in a session, and for which tool.
SELECT role, tool_name FROM messages WHERE session_id = :session_id ORDER BY timestamp DESC, id DESC LIMIT 1;

-- name: answered
-- Those of some sessions in which the agent spoke last, and for no tool.
SELECT m.session_id
FROM json_each(:ids) chosen
JOIN messages m ON m.id = (SELECT l.id FROM messages l WHERE l.session_id = chosen.value
                           ORDER BY l.timestamp DESC, l.id DESC LIMIT 1)
WHERE m.role = 'assistant' AND m.tool_name IS NULL;

-- name: last_of_process
-- The newest session of a program's process that is open, or ended a moment ago.
SELECT * FROM sessions
WHERE pid = :pid AND coalesce(host, '') = coalesce(CAST(:host AS TEXT), '')
  AND instance IS NULL AND driver = :driver AND parent_session_id IS NULL
  AND (ended_at IS NULL OR ended_at >= :since)
ORDER BY id DESC LIMIT 1;

-- name: open_within
-- The open sessions of a session's own sub-agents, and of theirs. All of them serve one effort: coalesce and
-- CROSS keep the planner from looking through that for each.
WITH RECURSIVE within (id, ended_at) AS (
    SELECT id, ended_at FROM sessions
    WHERE parent_session_id = :session_id AND coalesce(effort_id, 0) = :effort_id AND instance IS NULL
    UNION ALL
    SELECT s.id, s.ended_at FROM within w CROSS JOIN sessions s
    WHERE s.parent_session_id = w.id AND coalesce(s.effort_id, 0) = :effort_id AND s.instance IS NULL
)
SELECT id FROM within WHERE ended_at IS NULL ORDER BY id;

-- name: within_kept
-- Whether a session is inside one whose agent a keeper holds: its name then begins with that one's.
SELECT 1 FROM sessions s JOIN sessions p ON p.id = s.parent_session_id
WHERE s.id = :session_id AND p.instance IS NOT NULL
  AND substr(s.native_id, 1, length(p.native_id) + 1) = p.native_id || '/';

-- name: told
-- What a session has come to and was told.
SELECT path, hash FROM discoveries WHERE session_id = :session_id ORDER BY path;

-- name: tell
-- A session comes to a directory, or is told a directive.
INSERT INTO discoveries (session_id, path, hash) VALUES (:session_id, :path, :hash)
ON CONFLICT (session_id, path) DO UPDATE SET hash = excluded.hash;

-- name: forget_told
-- A session's context is gone, and with it the directives in it.
DELETE FROM discoveries WHERE session_id = :session_id AND hash IS NOT NULL;

-- name: miss_start
-- The agent of a session was not told what it is told at the start of its context window.
INSERT INTO missed_starts (session_id, source) VALUES (:session_id, :source)
ON CONFLICT (session_id) DO UPDATE SET source = excluded.source;

-- name: forget_missed_start
-- It was told now.
DELETE FROM missed_starts WHERE session_id = :session_id;

-- name: discover
-- The directories that an effort has come to, and the directives there.
UPDATE efforts SET discovered_directories = :directories, discovered_directives = :directives WHERE id = :id;

-- name: provisional
-- The turns of a session that only hooks have told of, oldest first, and the hashes of their contents.
SELECT m.id, m.source_key, b.hash
FROM messages m JOIN commits c ON c.id = m.commit_id JOIN blobs b ON b.id = c.blob_id
WHERE m.session_id = :session_id AND m.is_provisional = 1
ORDER BY m.id;

-- name: put_provisional
-- A turn that a hook tells of; no row where it is told of again.
INSERT INTO messages (session_id, role, commit_id, tool_name, timestamp, source_key, is_provisional)
VALUES (:session_id, 'user', :commit_id, NULL, :now_ms, :source_key, 1)
ON CONFLICT DO NOTHING
RETURNING id;

-- name: forget_provisional
-- The transcript has a turn that a hook told of. Its commit is left to `history.gc`: only a look at everything could
-- tell that nothing else points at it.
DELETE FROM messages WHERE id = :id AND is_provisional = 1;

-- name: is_said
-- Whether a person said something in a session since an instant, by the hash of it.
SELECT 1
FROM messages m JOIN commits c ON c.id = m.commit_id JOIN blobs b ON b.id = c.blob_id
WHERE m.session_id = :session_id AND m.role = 'user' AND m.timestamp > :since_ms AND b.hash = :hash
LIMIT 1;

-- name: newest_prompt
-- The newest thing that a person said in a session, when, and the hash of it.
SELECT m.id, m.timestamp, b.hash
FROM messages m JOIN commits c ON c.id = m.commit_id JOIN blobs b ON b.id = c.blob_id
WHERE m.session_id = :session_id AND m.role = 'user' ORDER BY m.timestamp DESC, m.id DESC LIMIT 1;
