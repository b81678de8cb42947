-- name: add
-- A new landing, at the end of its target's queue.
INSERT INTO landings (project_id, host, directory, repository, target, kind, method, state, efforts, needs, undoes,
                      branch, head, left_out, message, checks, files, created_at)
VALUES (:project_id, :host, :directory, :repository, :target, :landing_kind, :method, 'queued', :efforts, :needs, :undoes,
        :branch, :head, :left_out, :message, :checks, '[]', :now)
RETURNING *;

-- name: find
-- A landing by its id.
SELECT * FROM landings WHERE id = :id;

-- name: of_target
-- Every landing of a target that can still land or has landed, in their order.
SELECT * FROM landings
WHERE host = :host AND repository = :repository AND target = :target
  AND state IN ('queued', 'landing', 'failed', 'conflicted', 'stopped', 'landed')
ORDER BY id;

-- name: list_newest
-- Landings, the newest first; nulls mean any project and any state.
SELECT * FROM landings
WHERE id < :before AND coalesce(:project_id, project_id) = project_id AND coalesce(:state, state) = state
ORDER BY id DESC LIMIT :limit;

-- name: open_of_host
-- The landings that a host has to land, those first that a lander has.
SELECT * FROM landings WHERE host = :host AND state IN ('queued', 'landing')
ORDER BY CASE state WHEN 'landing' THEN 0 ELSE 1 END, id;

-- name: states
-- The states of all landings of a host, for those that others need.
SELECT id, state FROM landings WHERE host = :host AND state <> 'landed';

-- name: claim
-- Give a lander the lease, unless another one was faster.
UPDATE landings SET
    state = 'landing', attempts = attempts + 1, reason = NULL, lease_owner = :lander,
    lease_generation = lease_generation + 1, lease_expires_at = :expires_at
WHERE id = :id AND lease_generation = :generation AND state IN ('queued', 'landing')
RETURNING *;

-- name: renew
-- Let a lease go on.
UPDATE landings SET lease_expires_at = :expires_at
WHERE id = :id AND lease_generation = :generation AND state = 'landing'
RETURNING *;

-- name: note_tested
-- The commit that passed the checks, and where the target was.
UPDATE landings SET tip = :tip, tested = :tested, log = :log
WHERE id = :id AND lease_generation = :generation AND state = 'landing'
RETURNING *;

-- name: finish
-- What became of a landing, which nobody has any more.
UPDATE landings SET
    state = :state, reason = :reason, files = :files, log = coalesce(:log, log), finished_at = :finished_at,
    lease_owner = NULL, lease_expires_at = NULL
WHERE id = :id AND lease_generation = :generation AND state = 'landing'
RETURNING *;

-- name: ask_again
-- A landing that did not land, queued again with what is asked for now.
UPDATE landings SET
    state = 'queued', reason = NULL, finished_at = NULL, method = :method, left_out = :left_out, checks = :checks,
    message = :message
WHERE id = :id AND state = :from_state
RETURNING *;

-- name: move
-- A person's decision about a landing that nobody has.
UPDATE landings SET state = :state, reason = :reason, finished_at = :finished_at
WHERE id = :id AND state = :from_state
RETURNING *;
