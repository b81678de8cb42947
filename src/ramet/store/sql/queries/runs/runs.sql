-- name: add
-- A new run, which nobody attends yet.
INSERT INTO runs (project_id, task_id, name, mode, content_hash, limits, stop_on_failure, save_conversation,
                  created_at, started_at)
VALUES (:project_id, :task_id, :name, :mode, :content_hash, :limits, :stop_on_failure, :save_conversation, :now, :now)
RETURNING id;

-- name: set_branch
-- Where a run's conversation is.
UPDATE runs SET branch = :branch WHERE id = :id;

-- name: by_branch
-- The run whose conversation is on a branch.
SELECT id FROM runs WHERE branch = :branch LIMIT 1;

-- name: add_lines
-- The lines of a run, all at once and in their order; one that was done before is finished.
INSERT INTO efforts (task_id, skill, ordinal, lifecycle, created_at, finished_at, outcome, reason, prompt, driver,
                     model, timeout_seconds, run_id, run_line, run_order, run_agent)
SELECT :task_id, value ->> 'skill', :ordinal + (value ->> 'place'),
       CASE WHEN value ->> 'is_done' THEN 'finished' ELSE 'queued' END, :now,
       CASE WHEN value ->> 'is_done' THEN :now END, CASE WHEN value ->> 'is_done' THEN 'success' END,
       CASE WHEN value ->> 'is_done' THEN :reason END, value ->> 'text', value ->> 'driver',
       value ->> 'model', value ->> 'timeout_seconds', :run_id, value ->> 'key', value ->> 'place',
       value ->> 'agent'
FROM json_each(:lines) ORDER BY key
RETURNING run_line, id;

-- name: add_needs
-- Let lines wait for the end of others: pairs of the one that waits and the one that it needs.
INSERT INTO dependencies (effort_id, needs_id, needs)
SELECT value ->> 0, value ->> 1, 'end' FROM json_each(:pairs);

-- name: set_depends_on
-- What each line of a run says that it waits for.
UPDATE efforts SET depends_on = (SELECT json_group_array(needs_id) FROM dependencies WHERE effort_id = efforts.id)
WHERE run_id = :run_id AND EXISTS (SELECT 1 FROM dependencies WHERE effort_id = efforts.id);

-- name: find
-- A run, and whether somebody attends it.
SELECT r.*, coalesce(r.attended_until > :now, 0) AS is_attended FROM runs r WHERE r.id = :id;

-- name: page
-- The runs, the newest first.
SELECT r.*, coalesce(r.attended_until > :now, 0) AS is_attended FROM runs r
WHERE r.id < :before AND (:archived = 1 OR r.archived_at IS NULL)
  AND (CAST(:project_id AS BIGINT) IS NULL OR r.project_id = :project_id)
ORDER BY r.id DESC LIMIT :limit;

-- name: tally
-- How many lines of some runs are in which state.
SELECT run_id, lifecycle, outcome, attempts > 0, count(*) FROM efforts
WHERE run_id BETWEEN :first AND :last
GROUP BY run_id, lifecycle, outcome, attempts > 0;

-- name: spent
-- What the sessions of some runs used together.
SELECT e.run_id,
       CAST(sum(u.input_tokens + u.output_tokens + u.cache_read_tokens + u.cache_write_tokens) AS BIGINT),
       sum(u.cost_usd)
FROM efforts e JOIN sessions s ON s.effort_id = e.id JOIN usage u ON u.session_id = s.id
WHERE e.run_id BETWEEN :first AND :last
GROUP BY e.run_id;

-- name: lines
-- The lines of a run in their order, with what their sessions used; of what they said, the beginning.
SELECT e.run_line, e.id, e.prompt, e.skill, e.lifecycle, e.outcome, e.reason, e.driver, e.depends_on, e.git_branch,
       e.git_head, e.worktree, e.attempts, s.started_at, e.finished_at, coalesce(s.tokens, 0), s.cost_usd,
       substr(e.output_content, 1, :characters)
FROM efforts e
LEFT JOIN (
    SELECT o.effort_id, min(o.created_at) AS started_at, sum(u.cost_usd) AS cost_usd,
           CAST(sum(u.input_tokens + u.output_tokens + u.cache_read_tokens + u.cache_write_tokens) AS BIGINT) AS tokens
    FROM efforts l JOIN sessions o ON o.effort_id = l.id LEFT JOIN usage u ON u.session_id = o.id
    WHERE l.run_id = :run_id
    GROUP BY o.effort_id
) s ON s.effort_id = e.id
WHERE e.run_id = :run_id ORDER BY e.run_order, e.id;

-- name: next_place
-- The place behind the last line of a run.
SELECT coalesce(max(run_order) + 1, 0) FROM efforts WHERE run_id = :run_id;

-- name: attend
-- Begin or resume a run.
UPDATE runs SET
    started_at = :now, finished_at = NULL, archived_at = NULL, reason = NULL, attender = :attender, limits = :limits,
    attended_until = strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+' || :lease_seconds || ' seconds')
WHERE id = :id;

-- name: renew
-- Go on attending a run.
UPDATE runs SET attended_until = strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+' || :lease_seconds || ' seconds')
WHERE id = :id;

-- name: leave
-- Attend a run no longer.
UPDATE runs SET attender = NULL, attended_until = NULL WHERE id = :id;

-- name: stop
-- Why no more lines of a run are begun.
UPDATE runs SET reason = :reason WHERE id = :id;

-- name: finish
-- A run is over.
UPDATE runs SET finished_at = :now, attender = NULL, attended_until = NULL WHERE id = :id;

-- name: archive
-- Hide a run from the list, or show it again.
UPDATE runs SET archived_at = :archived_at WHERE id = :id;

-- name: retry_lines
-- Queue again what a bound of the run ended, which was nobody's failure; or all that did not succeed, but for what a
-- person dropped.
UPDATE efforts SET
    lifecycle = 'queued', finished_at = NULL, outcome = NULL, reason = NULL, failure = NULL, not_before = NULL,
    continues_session_id = NULL, agent_failures = 0, host_failures = 0
WHERE run_id = :run_id AND outcome <> 'success' AND (outcome <> 'dropped' OR reason IS NOT NULL)
  AND (:retry_failed = 1 OR (outcome IN ('budget', 'timeout') AND failure IS NULL))
RETURNING id;

-- name: finish_lines
-- Finish all lines of a run that wait.
UPDATE efforts SET
    lifecycle = 'finished', finished_at = :now, outcome = :outcome, reason = :reason, failure = NULL, not_before = NULL
WHERE run_id = :run_id AND lifecycle = 'queued'
RETURNING id, attempts;

-- name: has_queued
-- Whether a line of a run waits.
SELECT EXISTS (SELECT 1 FROM efforts WHERE lifecycle = 'queued' AND coalesce(run_id, 0) = :run_id);

-- name: count_active
-- How many lines of a run somebody has a lease on.
SELECT count(*) FROM efforts WHERE lease_owner IS NOT NULL AND run_id = :run_id;

-- name: outdated
-- The runs that have been finished or archived since before an instant, and that nobody attends or works on.
SELECT r.id FROM runs r
WHERE (r.finished_at <= :before OR r.archived_at <= :before) AND coalesce(r.attended_until <= :now, 1)
  AND NOT EXISTS (SELECT 1 FROM efforts e WHERE e.lease_owner IS NOT NULL AND e.run_id = r.id)
  AND (CAST(:project_id AS BIGINT) IS NULL OR r.project_id = :project_id)
ORDER BY r.id;

-- name: unlink_lines
-- The lines of a run are its no more.
UPDATE efforts SET run_id = NULL WHERE run_id = :run_id;

-- name: delete
-- Forget a run, and what its reviews found.
DELETE FROM runs WHERE id = :id;
