-- name: worker
-- What a worker may take (null where nobody has said), the effort that it holds already, and whether any lease has run
-- out.
SELECT (SELECT claims FROM agents WHERE id = :worker),
       coalesce((SELECT id FROM efforts WHERE lease_owner = :worker LIMIT 1),
                (SELECT e.id FROM agents a JOIN efforts e ON e.id = a.effort_id
                 WHERE a.id = :worker AND e.lifecycle <> 'finished')),
       EXISTS (SELECT 1 FROM efforts WHERE lease_expires_at < :now);

-- name: claim_next
-- Give a worker the lease on the next effort that is ready; nulls mean any skill, driver, project and host, and no run.
UPDATE efforts SET
    lifecycle = 'active', attempts = attempts + 1, not_before = NULL,
    lease_owner = :worker, lease_generation = lease_generation + 1, lease_expires_at = strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+' || :lease_seconds || ' seconds')
WHERE id = (
    SELECT e.id FROM efforts e
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
    ORDER BY e.priority DESC, e.id LIMIT 1
)
RETURNING *;

-- name: claim
-- Give a worker the lease on an effort that is ready.
UPDATE efforts SET
    lifecycle = 'active', attempts = attempts + 1, not_before = NULL,
    lease_owner = :worker, lease_generation = lease_generation + 1, lease_expires_at = strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+' || :lease_seconds || ' seconds')
WHERE id = :id AND lifecycle = 'queued'
RETURNING *;

-- name: expired
-- The efforts whose lease has run out.
SELECT * FROM efforts WHERE lease_expires_at < :now ORDER BY lease_expires_at, id;

-- name: take_expired
-- The same, to be given to somebody else.
SELECT e.id, e.task_id, e.skill, e.attempts, e.agent_failures, e.host_failures, e.lease_owner, e.lease_generation,
       e.stop_request, e.metadata, e.avoid_host,
       (EXISTS (SELECT 1 FROM sessions s WHERE s.effort_id = e.id)
        OR EXISTS (SELECT 1 FROM agents a WHERE a.effort_id = e.id)) AS is_attended,
       EXISTS (SELECT 1 FROM efforts c JOIN sessions s ON s.id = c.awaited_by
               WHERE c.awaited_by IS NOT NULL AND s.effort_id = e.id) AS is_awaiting
FROM efforts e
WHERE e.lease_expires_at < :now ORDER BY e.lease_expires_at, e.id;

-- name: renew
-- Let a lease go on.
UPDATE efforts SET lease_expires_at = strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+' || :lease_seconds || ' seconds')
WHERE id = :id AND lease_generation = :generation AND lease_owner IS NOT NULL
RETURNING lease_expires_at, stop_request;

-- name: renew_if_low
-- Let a lease go on where a third of it is used up: an effort's row is large, and not written for each report.
UPDATE efforts SET lease_expires_at = strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+' || :lease_seconds || ' seconds')
WHERE id = :id AND lease_generation = :generation
  AND lease_expires_at < strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+' || (:lease_seconds * 2 / 3) || ' seconds')
RETURNING id;

-- name: held
-- An effort that somebody has a lease on, and whether anything has to be ended or let go with it.
SELECT e.id, e.task_id, e.skill, e.attempts, e.agent_failures, e.host_failures, e.lease_owner, e.lease_generation,
       e.stop_request, e.metadata, e.avoid_host,
       (EXISTS (SELECT 1 FROM sessions s WHERE s.effort_id = e.id)
        OR EXISTS (SELECT 1 FROM agents a WHERE a.effort_id = e.id)) AS is_attended,
       EXISTS (SELECT 1 FROM efforts c JOIN sessions s ON s.id = c.awaited_by
               WHERE c.awaited_by IS NOT NULL AND s.effort_id = e.id) AS is_awaiting
FROM efforts e WHERE e.id = :id;

-- name: worktree_user
-- Who works in a worktree.
SELECT id FROM efforts WHERE lease_owner IS NOT NULL AND worktree = :worktree AND id <> :id;

-- name: begin
-- An attempt begins: where, and with what.
UPDATE efforts SET
    driver = :driver, model = :model, worktree = coalesce(:worktree, worktree),
    git_branch = coalesce(:git_branch, git_branch), git_base = coalesce(:git_base, git_base),
    git_host = coalesce(:git_host, git_host),
    continues_session_id = NULL
WHERE id = :id
RETURNING *;

-- name: uncount
-- The attempt was never begun.
UPDATE efforts SET attempts = attempts - 1 WHERE id = :id;

-- name: begun_since
-- Whether an attempt has begun under a later lease.
SELECT 1 FROM sessions WHERE effort_id = :id AND generation > :generation LIMIT 1;

-- name: correct_session
-- A session that was ended because its lease was over, and that had its outcome by then.
UPDATE sessions SET outcome = :outcome, notes = NULL WHERE effort_id = :id AND generation = :generation;
