-- name: add
-- A new run, which nobody attends yet.
INSERT INTO runs (project_id, task_id, name, mode, content_hash, limits, stop_on_failure, keep_going,
                  save_conversation, base_commit, base_branch, base_changes, created_at, started_at)
VALUES (:project_id, :task_id, :name, :mode, :content_hash, :limits, :stop_on_failure, :keep_going,
        :save_conversation, :base_commit, :base_branch, :base_changes, :now, :now)
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
                     model, timeout_seconds, run_id, run_line, run_order, run_agent, base_commit, base_branch,
                     base_changes, accepts_no_change)
SELECT :task_id, value ->> 'skill', :ordinal + (value ->> 'place'),
       CASE WHEN value ->> 'is_done' THEN 'finished' ELSE 'queued' END, :now,
       CASE WHEN value ->> 'is_done' THEN :now END, CASE WHEN value ->> 'is_done' THEN 'success' END,
       CASE WHEN value ->> 'is_done' THEN :reason END, value ->> 'text', value ->> 'driver',
       value ->> 'model', value ->> 'timeout_seconds', r.id, value ->> 'key', value ->> 'place',
       value ->> 'agent', r.base_commit, r.base_branch, r.base_changes,
       CASE WHEN value ->> 'accepts_no_change' THEN 1 ELSE 0 END
FROM runs r CROSS JOIN json_each(:lines) AS l WHERE r.id = :run_id ORDER BY l.key
RETURNING run_line, id;

-- name: add_needs
-- Let lines wait for others: the one that waits, the one that it needs, and whether for its success or its end.
INSERT INTO dependencies (effort_id, needs_id, needs)
SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(:waits);

-- name: keep_going
-- Let lines of a run start although others did not succeed.
UPDATE runs SET keep_going = 1 WHERE id = :id;

-- name: need_only_ends
-- Let the lines of a run wait only for the end of others.
UPDATE dependencies SET needs = 'end' WHERE effort_id IN (SELECT id FROM efforts WHERE run_id = :run_id);

-- name: accept_no_change
-- Let `no_change` of the lines of a run satisfy those that need them.
UPDATE efforts SET accepts_no_change = 1 WHERE run_id = :run_id;

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
       sum(coalesce(u.cost_usd, u.estimated_usd)),
       max(CASE WHEN u.cost_usd IS NULL AND u.estimated_usd IS NOT NULL THEN 1 ELSE 0 END)
FROM efforts e JOIN sessions s ON s.effort_id = e.id JOIN usage u ON u.session_id = s.id
WHERE e.run_id BETWEEN :first AND :last
GROUP BY e.run_id;

-- name: lines
-- The lines of a run in their order, with what their sessions used; of what they said, the beginning.
SELECT e.run_line, e.id, e.prompt, e.skill, e.lifecycle, e.outcome, e.reason, e.driver, e.depends_on, e.git_branch,
       e.git_head, e.worktree, e.attempts, s.started_at, e.finished_at, coalesce(s.tokens, 0), s.cost_usd,
       substr(e.output_content, 1, :characters), coalesce(s.is_cost_estimated, 0)
FROM efforts e
LEFT JOIN (
    SELECT o.effort_id, min(o.created_at) AS started_at, sum(coalesce(u.cost_usd, u.estimated_usd)) AS cost_usd,
           max(CASE WHEN u.cost_usd IS NULL AND u.estimated_usd IS NOT NULL THEN 1 ELSE 0 END) AS is_cost_estimated,
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

-- name: unsuccessful
-- The lines of a run that ended without success.
SELECT id, outcome, reason, failure FROM efforts WHERE run_id = :run_id AND outcome <> 'success' ORDER BY run_order, id;

-- name: unmet
-- The lines of a run, each with those that it needs and that ended without the success that it needs.
SELECT d.effort_id, d.needs_id
FROM efforts e JOIN dependencies d ON d.effort_id = e.id JOIN efforts n ON n.id = d.needs_id
WHERE e.run_id = :run_id AND d.needs = 'success' AND n.outcome <> 'success'
  AND (n.outcome <> 'no_change' OR e.accepts_no_change + n.accepts_no_change = 0)
ORDER BY d.effort_id, d.needs_id;

-- name: retry_lines
-- Queue lines again, as if they had not been tried.
UPDATE efforts SET
    lifecycle = 'queued', finished_at = NULL, outcome = NULL, reason = NULL, failure = NULL, not_before = NULL,
    continues_session_id = NULL, agent_failures = 0, host_failures = 0
WHERE id IN (SELECT value FROM json_each(:ids));

-- name: doomed_next
-- The next waiting line of a run, if it needs the success of a line that ended otherwise; and the first such line.
SELECT e.id, e.run_line, e.attempts, n.run_line AS needed_line, n.outcome AS needed_outcome, n.reason AS needed_reason
FROM efforts e JOIN dependencies d ON d.effort_id = e.id JOIN efforts n ON n.id = d.needs_id
WHERE e.id = (
    SELECT q.id FROM efforts q WHERE q.lifecycle = 'queued' AND coalesce(q.run_id, 0) = :run_id
    ORDER BY q.priority DESC, q.id LIMIT 1
)
  AND d.needs = 'success' AND n.outcome <> 'success'
  AND (n.outcome <> 'no_change' OR e.accepts_no_change + n.accepts_no_change = 0)
ORDER BY n.run_order, n.id LIMIT 1;

-- name: skip_line
-- Finish a line that waits.
UPDATE efforts SET
    lifecycle = 'finished', finished_at = :now, outcome = 'dropped', reason = :reason, failure = NULL, not_before = NULL
WHERE id = :id;

-- name: skip_dependents
-- Finish the lines of a run that wait for the success of one that ended otherwise.
UPDATE efforts SET
    lifecycle = 'finished', finished_at = :now, outcome = 'dropped', reason = :reason, failure = NULL, not_before = NULL
WHERE run_id = :run_id AND lifecycle = 'queued' AND id IN (
    SELECT e.id FROM dependencies d JOIN efforts e ON e.id = d.effort_id JOIN efforts n ON n.id = d.needs_id
    WHERE d.needs_id = :needs_id AND d.needs = 'success'
      AND (n.outcome <> 'no_change' OR e.accepts_no_change + n.accepts_no_change = 0)
)
RETURNING id, run_line, attempts;

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
