-- name: enqueue
-- Put an effort into the queue.
INSERT INTO efforts (task_id, skill, mode, ordinal, lifecycle, metadata, created_at, prompt, based_on, depends_on,
                     driver, model, priority, timeout_seconds, retry_of, run_id, run_line, run_order,
                     spawned_by, awaited_by, workspace, base_commit, base_branch, base_changes, accepts_no_change)
VALUES (:task_id, :skill, :mode, :ordinal, 'queued', :metadata, :now, :prompt, :based_on, :depends_on,
        :driver, :model, :priority, :timeout_seconds, :retry_of, :run_id, :run_line, :run_order,
        :spawned_by, :awaited_by, :workspace, :base_commit, :base_branch, :base_changes, :accepts_no_change)
RETURNING id;

-- name: is_there
-- Whether there is an effort.
SELECT 1 FROM efforts WHERE id = :id;

-- name: add_dependency
-- Let an effort wait for another: for its success, or for its end.
INSERT INTO dependencies (effort_id, needs_id, needs) VALUES (:effort_id, :needs_id, :needs);

-- name: dependents
-- The queued efforts that wait for one.
SELECT e.id, e.depends_on FROM dependencies d JOIN efforts e ON e.id = d.effort_id
WHERE d.needs_id = :needs_id AND e.lifecycle = 'queued' ORDER BY e.id;

-- name: repoint
-- Let an effort wait for another one in the place of one.
UPDATE dependencies SET needs_id = :new_id WHERE effort_id = :effort_id AND needs_id = :old_id;

-- name: set_depends_on
-- What an effort says that it waits for.
UPDATE efforts SET depends_on = :depends_on WHERE id = :id;

-- name: by_id
-- An effort, and the first that it waits for.
SELECT e.*, t.project_id FROM efforts_shown e CROSS JOIN tasks t
WHERE e.id = :id AND t.dir_path = e.task_id;

-- name: page
-- The efforts of the queue, the newest first; a null state means any.
SELECT e.*, t.project_id FROM efforts_shown e CROSS JOIN tasks t
WHERE t.dir_path = e.task_id AND e.id < :before AND e.prompt IS NOT NULL
  AND (CAST(:state AS TEXT) IS NULL OR e.lifecycle = :state)
  AND (CAST(:project_id AS BIGINT) IS NULL OR t.project_id = :project_id)
ORDER BY e.id DESC LIMIT :limit;

-- name: page_of_task
-- The same of one task.
SELECT e.*, t.project_id FROM efforts_shown e CROSS JOIN tasks t
WHERE t.dir_path = e.task_id AND e.id < :before AND e.prompt IS NOT NULL AND e.task_id = :task_id
  AND (CAST(:state AS TEXT) IS NULL OR e.lifecycle = :state)
  AND (CAST(:run_id AS BIGINT) IS NULL OR e.run_id = :run_id)
  AND (CAST(:project_id AS BIGINT) IS NULL OR t.project_id = :project_id)
ORDER BY e.id DESC LIMIT :limit;

-- name: page_of_run
-- The same of one run.
WITH page AS MATERIALIZED (
    SELECT q.id FROM efforts q CROSS JOIN tasks k
    WHERE k.dir_path = q.task_id AND q.run_id = :run_id AND +q.id < :before
      AND (CAST(:state AS TEXT) IS NULL OR q.lifecycle = :state)
      AND (CAST(:project_id AS BIGINT) IS NULL OR k.project_id = :project_id)
    ORDER BY +q.id DESC LIMIT :limit
)
SELECT e.*, t.project_id FROM page p CROSS JOIN efforts_shown e CROSS JOIN tasks t
WHERE e.id = p.id AND t.dir_path = e.task_id
ORDER BY e.id DESC;

-- name: lost
-- The efforts that ended with an error of their host: none of its agents could start, or what ran the last one failed.
SELECT e.*, t.project_id FROM efforts_shown e CROSS JOIN tasks t
WHERE t.dir_path = e.task_id AND e.id < :before AND e.outcome = 'error' AND e.finished_at >= :since
  AND e.prompt IS NOT NULL AND e.run_id IS NULL AND e.spawned_by IS NULL
  AND (e.failure = 'infrastructure' OR NOT EXISTS (SELECT 1 FROM sessions s WHERE s.effort_id = e.id))
  AND NOT EXISTS (SELECT 1 FROM efforts c WHERE c.retry_of = e.id)
  AND (CAST(:project_id AS BIGINT) IS NULL OR t.project_id = :project_id)
ORDER BY e.id DESC LIMIT :limit;

-- name: page_queued
-- The efforts that wait, the newest first, found without a look at those that are finished (the + keeps
-- the planner from walking all ids).
WITH page AS MATERIALIZED (
    SELECT q.id FROM efforts q CROSS JOIN tasks k
    WHERE k.dir_path = q.task_id AND q.lifecycle = 'queued' AND +q.id < :before
      AND (CAST(:run_id AS BIGINT) IS NULL OR q.run_id = :run_id)
      AND (CAST(:project_id AS BIGINT) IS NULL OR k.project_id = :project_id)
    ORDER BY +q.id DESC LIMIT :limit
)
SELECT e.*, t.project_id FROM page p CROSS JOIN efforts_shown e CROSS JOIN tasks t
WHERE e.id = p.id AND t.dir_path = e.task_id
ORDER BY e.id DESC;

-- name: page_active
-- The same for those that somebody has a lease on.
WITH page AS MATERIALIZED (
    SELECT q.id FROM efforts q CROSS JOIN tasks k
    WHERE k.dir_path = q.task_id AND q.lease_owner IS NOT NULL AND +q.id < :before
      AND (CAST(:run_id AS BIGINT) IS NULL OR q.run_id = :run_id)
      AND (CAST(:project_id AS BIGINT) IS NULL OR k.project_id = :project_id)
    ORDER BY +q.id DESC LIMIT :limit
)
SELECT e.*, t.project_id FROM page p CROSS JOIN efforts_shown e CROSS JOIN tasks t
WHERE e.id = p.id AND t.dir_path = e.task_id
ORDER BY e.id DESC;

-- name: next_ready
-- The effort that is the next to be claimed; nulls mean any skill, driver, project and host, and no run.
SELECT e.* FROM efforts e
WHERE e.lifecycle = 'queued' AND coalesce(e.run_id, 0) = coalesce(:run_id, 0) AND e.awaited_by IS NULL
  AND (e.not_before IS NULL OR e.not_before <= :now OR e.avoid_host <> :host)
  AND NOT EXISTS (
      SELECT 1 FROM dependencies d JOIN efforts n ON n.id = d.needs_id
      WHERE d.effort_id = e.id AND n.outcome IS DISTINCT FROM 'success'
        AND (d.needs = 'success' OR n.outcome IS NULL)
        AND (n.outcome IS DISTINCT FROM 'no_change' OR e.accepts_no_change + n.accepts_no_change = 0)
  )
  AND (:skills IS NULL OR e.skill IN (SELECT value FROM json_each(:skills)))
  AND (:drivers IS NULL OR e.driver IS NULL OR e.driver IN (SELECT value FROM json_each(:drivers)))
  AND (:project_id IS NULL OR :project_id = (SELECT t.project_id FROM tasks t WHERE t.dir_path = e.task_id))
  AND (:held IS NULL OR (SELECT t.project_id FROM tasks t WHERE t.dir_path = e.task_id) NOT IN (
      SELECT value FROM json_each(:held)))
  AND (:host IS NULL OR EXISTS (
      SELECT 1 FROM tasks t JOIN project_paths p ON p.project_id = t.project_id
      WHERE t.dir_path = e.task_id AND p.host = :host
  ) OR NOT EXISTS (
      SELECT 1 FROM tasks t JOIN project_paths p ON p.project_id = t.project_id WHERE t.dir_path = e.task_id
  ))
ORDER BY e.priority DESC, e.id LIMIT 1;

-- name: settle
-- What an attempt came to: the effort is finished, or waits for another one. Nobody has a lease on it any more.
UPDATE efforts SET
    lifecycle = :lifecycle, finished_at = :finished_at, outcome = :outcome, reason = :reason, failure = :failure,
    not_before = :not_before, avoid_host = :avoid_host, continues_session_id = :continues_session_id,
    agent_failures = :agent_failures, host_failures = :host_failures,
    output_content = coalesce(:output_content, output_content), report_file = coalesce(:report_file, report_file),
    git_head = coalesce(:git_head, git_head), git_branch = coalesce(:git_branch, git_branch),
    changes = coalesce(:changes, changes), usage = coalesce(:usage, usage), metadata = coalesce(:metadata, metadata),
    lease_owner = NULL, lease_expires_at = NULL, stop_request = NULL,
    awaited_by = CASE WHEN CAST(:outcome AS TEXT) IS NULL THEN awaited_by END
WHERE id = :id
RETURNING *;

-- name: set_output
-- Replace the text of an effort's output.
UPDATE efforts SET output_content = :output_content, report_file = coalesce(:report_file, report_file) WHERE id = :id
RETURNING *;

-- name: request_stop
-- Let whoever runs an effort know that it should end.
UPDATE efforts SET stop_request = :stop_request WHERE id = :id
RETURNING *;

-- name: successful_retry
-- The newest copy of an effort, or copy of a copy, that succeeded.
WITH RECURSIVE copies (id) AS (
    SELECT e.id FROM efforts e WHERE e.retry_of = :id
    UNION
    SELECT e.id FROM efforts e JOIN copies c ON e.retry_of = c.id
)
SELECT e.* FROM efforts e JOIN copies c ON c.id = e.id WHERE e.outcome = 'success' ORDER BY e.id DESC LIMIT 1;

-- name: reported_of_task
-- The finished efforts of a task that left a report, the newest first.
SELECT * FROM efforts
WHERE task_id = :task_id AND lifecycle = 'finished' AND (report_file IS NOT NULL OR output_content IS NOT NULL)
ORDER BY id DESC LIMIT :limit;

-- name: hosts
-- The hosts that have a project.
SELECT host FROM project_paths WHERE project_id = :project_id;
