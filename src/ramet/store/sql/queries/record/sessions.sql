-- name: next_id
-- The id of the next session, needed before its row because its branch carries the id in its name.
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'sessions'), 0) + 1;

-- name: insert
-- Start a session.
INSERT INTO sessions (id, task_id, effort_id, prev_session_id, parent_session_id, root_session_id, spawn_depth,
                      agent_id, driver, native_id, pid, instance, generation, branch, created_at, deadline)
VALUES (:id, :task_id, :effort_id, :prev_session_id, :parent_session_id, :root_session_id, :spawn_depth,
        :agent_id, :driver, :native_id, :pid, :instance, :generation, :branch, :now, :deadline)
RETURNING *;

-- name: by_id
-- A session.
SELECT * FROM sessions WHERE id = :id;

-- name: by_native
-- A session by the vendor's own id.
SELECT * FROM sessions WHERE driver = :driver AND native_id = :native_id;

-- name: resume
-- The vendor has opened the same context window again.
UPDATE sessions SET ended_at = NULL, outcome = NULL, notes = NULL, pid = coalesce(:pid, pid), agent_id = :agent_id,
                    effort_id = :effort_id, permission_tool = NULL
WHERE id = :id
RETURNING *;

-- name: attach
-- A keeper holds the session's agent from now on, and numbers what it hears anew.
UPDATE sessions SET ended_at = NULL, outcome = NULL, notes = NULL, exit_status = NULL, exit_signal = NULL, pid = NULL,
                    process_started = NULL, reported_seq = 0, tools_in_flight = NULL, permission_tool = NULL,
                    instance = :instance,
                    generation = :generation, agent_id = :agent_id, effort_id = :effort_id, deadline = :deadline
WHERE id = :id
RETURNING *;

-- name: waiting
-- The session of a spawned effort that waits for its first keeper.
SELECT s.* FROM sessions s JOIN efforts e ON e.id = s.effort_id AND e.spawned_by = s.parent_session_id
WHERE s.effort_id = :effort_id AND s.ended_at IS NULL AND s.instance IS NULL AND s.driver IS NULL
ORDER BY s.id LIMIT 1;

-- name: name_driver
-- Which program is at work in a session that was there before it, and the id that it has there.
UPDATE sessions SET driver = :driver, native_id = :native_id WHERE id = :id;

-- name: first_of_effort
-- The session with which an effort began.
SELECT * FROM sessions WHERE effort_id = :effort_id ORDER BY id LIMIT 1;

-- name: set_report
-- What a session reports at its end.
UPDATE sessions SET report = :report WHERE id = :id
RETURNING *;

-- name: last_of_effort
-- The newest session that serves an effort.
SELECT * FROM sessions WHERE effort_id = :effort_id ORDER BY id DESC LIMIT 1;

-- name: last_native
-- The newest session of an effort whose context window can be gone on with.
SELECT id FROM sessions WHERE effort_id = :effort_id AND native_id IS NOT NULL ORDER BY id DESC LIMIT 1;

-- name: kept
-- The session of an effort whose agent a keeper holds under a lease, or held until a moment ago.
SELECT id FROM sessions WHERE effort_id = :effort_id AND instance IS NOT NULL AND generation = :generation;

-- name: end_of_effort
-- End what is still open of an effort.
UPDATE sessions SET ended_at = :now, outcome = :outcome, notes = coalesce(:notes, notes), tools_in_flight = NULL
WHERE effort_id = :effort_id AND ended_at IS NULL
RETURNING id;

-- name: reporter
-- All that a report needs to know of its session, its effort's lease and where its branch stands, in one look.
SELECT s.id, s.agent_id, s.instance, s.generation, s.reported_seq, s.tools_in_flight, s.ended_at IS NOT NULL,
       e.id, e.task_id, e.lease_owner IS NOT NULL, e.lease_generation, e.stop_request,
       EXISTS (SELECT 1 FROM sessions o WHERE o.parent_session_id = s.id AND o.ended_at IS NULL)
       OR EXISTS (SELECT 1 FROM efforts a WHERE a.awaited_by = s.id),
       b.commit_id IS NOT NULL AND c.id IS NULL,
       b.id, c.segment_id, coalesce(c.seq, 0), c.id, c.hash, coalesce(c.token_sum, 0)
FROM sessions s
JOIN efforts e ON e.id = s.effort_id
JOIN branches b ON b.name = s.branch
LEFT JOIN commits c ON c.id = b.commit_id
WHERE s.id = :session_id;

-- name: report
-- What a keeper's report says about its session. One that has ended keeps its end.
UPDATE sessions SET reported_seq = :reported_seq, last_heartbeat = :now, tools_in_flight = :tools_in_flight,
                    pid = coalesce(:pid, pid), process_started = coalesce(:process_started, process_started),
                    exit_status = coalesce(:exit_status, exit_status),
                    exit_signal = coalesce(:exit_signal, exit_signal),
                    notes = coalesce(notes, :notes), outcome = coalesce(outcome, :outcome),
                    ended_at = coalesce(ended_at, :ended_at)
WHERE id = :id;

-- name: set_native_id
-- The vendor's own id for a context window, unless another session goes by it.
UPDATE sessions SET native_id = :native_id
WHERE id = :id AND driver IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM sessions o WHERE o.driver = sessions.driver AND o.native_id = :native_id
);

-- name: finish
-- End a session with what it hands on.
UPDATE sessions SET ended_at = :now, outcome = :outcome,
                    dehydration_payload = coalesce(:payload, dehydration_payload)
WHERE id = :id
RETURNING *;

-- name: close
-- A context window that a program opened by itself is closed, with what there is to say of that.
UPDATE sessions SET ended_at = :now, outcome = :outcome, notes = coalesce(:notes, notes), tools_in_flight = NULL
WHERE id = :id;

-- name: open_of_agent
-- The open sessions of an agent outside one tree; and where it is a root that goes on, that tree's other roots, which are
-- the same context continued. Few are open at all, while a worker's ended ones grow without end: coalesce keeps the
-- planner from looking through those.
SELECT id FROM sessions
WHERE coalesce(agent_id, '') = :agent_id AND ended_at IS NULL
  AND (root_session_id <> :tree OR (CAST(:root AS BIGINT) IS NOT NULL AND parent_session_id IS NULL AND id <> :root))
ORDER BY id;

-- name: open_subagents
-- The open sessions of a session's own sub-agents, and of theirs: their names begin with its name. Few are open at all:
-- coalesce keeps the planner from looking through those of the tree or the effort.
SELECT s.id FROM sessions p CROSS JOIN sessions s
WHERE p.id = :session_id AND s.ended_at IS NULL AND s.instance IS NULL
  AND coalesce(s.root_session_id, 0) = p.root_session_id AND coalesce(s.effort_id, 0) = :effort_id
  AND substr(s.native_id, 1, length(coalesce(p.native_id, 'session-' || p.id)) + 1)
      = coalesce(p.native_id, 'session-' || p.id) || '/'
ORDER BY s.id;

-- name: last_of_agent
-- The newest session of an agent on an effort.
SELECT * FROM sessions WHERE agent_id = :agent_id AND effort_id = :effort_id ORDER BY id DESC LIMIT 1;

-- name: last_root_of_agent
-- The newest session of an agent that is nobody's child; a null task means any.
SELECT * FROM sessions
WHERE agent_id = :agent_id AND parent_session_id IS NULL AND (CAST(:task_id AS TEXT) IS NULL OR task_id = :task_id)
ORDER BY id DESC LIMIT 1;

-- name: last_root_of_task
-- The newest session of a task that is nobody's child.
SELECT * FROM sessions WHERE task_id = :task_id AND parent_session_id IS NULL ORDER BY id DESC LIMIT 1;

-- name: move
-- Let a session serve another effort.
UPDATE sessions SET task_id = :task_id, effort_id = :effort_id WHERE id = :id
RETURNING *;

-- name: follow
-- Let a root session continue another one, in whose tree it is from then on with all below it.
UPDATE sessions SET root_session_id = :root,
                    prev_session_id = CASE WHEN id = :id THEN :prev ELSE prev_session_id END
WHERE root_session_id = :id;

-- name: beat
-- A sign of life.
UPDATE sessions SET heartbeat_counter = heartbeat_counter + 1, last_heartbeat = :now WHERE id = :id
RETURNING *;

-- name: reset_heartbeats
-- An effort has moved on: its open sessions start counting anew.
UPDATE sessions SET heartbeat_counter = 0, last_heartbeat = :now
WHERE effort_id = :effort_id AND ended_at IS NULL;

-- name: set_context_usage
-- How full the context window is.
UPDATE sessions SET context_usage = :usage WHERE id = :id
RETURNING *;

-- name: observe
-- The model of the newest call, and how full its context was, as far as they are known.
UPDATE sessions SET model = coalesce(:model, model), context_usage = coalesce(:usage, context_usage) WHERE id = :id;

-- name: set_title
-- What a session is called: a title that a person gave replaces any, one that a program made up only none.
UPDATE sessions SET title = CASE WHEN :is_given = 1 THEN :title ELSE coalesce(title, :title) END
WHERE id = :id AND title IS DISTINCT FROM CASE WHEN :is_given = 1 THEN :title ELSE coalesce(title, :title) END
RETURNING id;

-- name: set_origin
-- The session of which this one is a copy. The first origin that is known holds.
UPDATE sessions SET forked_from_session_id = :origin
WHERE id = :id AND id <> :origin AND forked_from_session_id IS NULL
RETURNING id;

-- name: set_loaded_files
-- Which files the session has read.
UPDATE sessions SET loaded_files = :files WHERE id = :id
RETURNING *;

-- name: matching
-- All sessions, the newest first; a null `open` means open or not.
SELECT sessions.*, t.project_id FROM sessions JOIN tasks t ON t.dir_path = sessions.task_id
WHERE id < :before
  AND (CAST(:open AS BIGINT) IS NULL OR (ended_at IS NULL AND :open = 1) OR (ended_at IS NOT NULL AND :open = 0))
  AND (CAST(:project_id AS BIGINT) IS NULL OR t.project_id = :project_id)
  AND (:archived = 1 OR archived_at IS NULL)
ORDER BY id DESC LIMIT :limit;

-- name: of_task
-- A task's sessions, the newest first.
SELECT sessions.*, t.project_id FROM sessions JOIN tasks t ON t.dir_path = sessions.task_id
WHERE task_id = :task_id AND id < :before
  AND (CAST(:open AS BIGINT) IS NULL OR (ended_at IS NULL AND :open = 1) OR (ended_at IS NOT NULL AND :open = 0))
  AND (CAST(:project_id AS BIGINT) IS NULL OR t.project_id = :project_id)
  AND (:archived = 1 OR archived_at IS NULL)
ORDER BY id DESC LIMIT :limit;

-- name: of_agent
-- An agent's sessions, the newest first; a null task means any.
SELECT sessions.*, t.project_id FROM sessions JOIN tasks t ON t.dir_path = sessions.task_id
WHERE agent_id = :agent_id AND id < :before AND (CAST(:task_id AS TEXT) IS NULL OR task_id = :task_id)
  AND (CAST(:open AS BIGINT) IS NULL OR (ended_at IS NULL AND :open = 1) OR (ended_at IS NOT NULL AND :open = 0))
  AND (CAST(:project_id AS BIGINT) IS NULL OR t.project_id = :project_id)
  AND (:archived = 1 OR archived_at IS NULL)
ORDER BY id DESC LIMIT :limit;

-- name: of_effort
-- An effort's sessions, the newest first; a null task or agent means any.
SELECT sessions.*, t.project_id FROM sessions JOIN tasks t ON t.dir_path = sessions.task_id
WHERE effort_id = :effort_id AND id < :before AND (CAST(:task_id AS TEXT) IS NULL OR task_id = :task_id)
  AND (CAST(:agent_id AS TEXT) IS NULL OR agent_id = :agent_id)
  AND (CAST(:open AS BIGINT) IS NULL OR (ended_at IS NULL AND :open = 1) OR (ended_at IS NOT NULL AND :open = 0))
  AND (CAST(:project_id AS BIGINT) IS NULL OR t.project_id = :project_id)
  AND (:archived = 1 OR archived_at IS NULL)
ORDER BY id DESC LIMIT :limit;

-- name: silent
-- Open sessions without a sign of life since an instant, the longest silent first. One whose tool is at work or whose
-- child is waited for is not silent, and a child that was not begun yet has nobody who could be.
SELECT s.* FROM sessions s
WHERE s.ended_at IS NULL AND coalesce(s.last_heartbeat, s.created_at) < :before AND s.tools_in_flight IS NULL
  AND NOT EXISTS (SELECT 1 FROM efforts e WHERE e.awaited_by = s.id)
  AND NOT EXISTS (SELECT 1 FROM efforts e WHERE e.id = s.effort_id AND e.lifecycle = 'queued'
                    AND e.spawned_by = s.parent_session_id)
ORDER BY coalesce(s.last_heartbeat, s.created_at), s.id LIMIT :limit;
