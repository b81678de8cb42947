-- name: add_lines
-- The lines of a run, all at once and in their order; one that was done before is finished.
INSERT INTO efforts (task_id, skill, ordinal, lifecycle, created_at, finished_at, outcome, reason, prompt, driver,
                     model, timeout_seconds, run_id, run_line, run_order, run_agent, base_commit, base_branch,
                     base_changes, accepts_no_change)
SELECT :task_id, l.skill, :ordinal + l.place, CASE WHEN l.is_done THEN 'finished' ELSE 'queued' END, :now,
       CASE WHEN l.is_done THEN :now END, CASE WHEN l.is_done THEN 'success' END,
       CASE WHEN l.is_done THEN :reason END, l.text, l.driver, l.model, l.timeout_seconds, r.id, l.key, l.place,
       l.agent, r.base_commit, r.base_branch, r.base_changes, CASE WHEN l.accepts_no_change THEN 1 ELSE 0 END
FROM runs r CROSS JOIN json_to_recordset(CAST(:lines AS JSON)) AS l (
    place INTEGER, key TEXT, text TEXT, skill TEXT, driver TEXT, agent TEXT, model TEXT, timeout_seconds INTEGER,
    is_done BOOLEAN, accepts_no_change BOOLEAN
) WHERE r.id = :run_id ORDER BY l.place
RETURNING run_line, id;

-- name: add_needs
-- Let lines wait for others: the one that waits, the one that it needs, and whether for its success or its end.
INSERT INTO dependencies (effort_id, needs_id, needs)
SELECT CAST(w ->> 0 AS BIGINT), CAST(w ->> 1 AS BIGINT), w ->> 2 FROM json_array_elements(CAST(:waits AS JSON)) AS w;

-- name: retry_lines
-- Queue lines again, as if they had not been tried.
UPDATE efforts SET
    lifecycle = 'queued', finished_at = NULL, outcome = NULL, reason = NULL, failure = NULL, not_before = NULL,
    continues_session_id = NULL, agent_failures = 0, host_failures = 0
WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:ids AS JSON)));

-- name: set_depends_on
-- What each line of a run says that it waits for.
UPDATE efforts SET depends_on =
    (SELECT CAST(json_agg(d.needs_id ORDER BY d.needs_id) AS TEXT) FROM dependencies d WHERE d.effort_id = efforts.id)
WHERE run_id = :run_id AND EXISTS (SELECT 1 FROM dependencies d WHERE d.effort_id = efforts.id);

-- name: find
-- A run, and whether somebody attends it, by the server's time: several machines share it.
SELECT r.*, coalesce(r.attended_until > to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), FALSE) AS is_attended
FROM runs r WHERE r.id = :id;

-- name: page
-- The runs, the newest first.
SELECT r.*, coalesce(r.attended_until > to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), FALSE) AS is_attended
FROM runs r
WHERE r.id < :before AND (:archived = 1 OR r.archived_at IS NULL)
  AND (CAST(:project_id AS BIGINT) IS NULL OR r.project_id = :project_id)
ORDER BY r.id DESC LIMIT :limit;

-- name: attend
-- Begin or resume a run.
UPDATE runs SET
    started_at = :now, finished_at = NULL, archived_at = NULL, reason = NULL, attender = :attender, limits = :limits,
    attended_until = to_char(now() AT TIME ZONE 'UTC' + :lease_seconds * INTERVAL '1 second', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
WHERE id = :id;

-- name: renew
-- Go on attending a run.
UPDATE runs SET attended_until =
    to_char(now() AT TIME ZONE 'UTC' + :lease_seconds * INTERVAL '1 second', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
WHERE id = :id;

-- name: outdated
-- The runs that have been finished or archived since before an instant, and that nobody attends or works on.
SELECT r.id FROM runs r
WHERE (r.finished_at <= :before OR r.archived_at <= :before)
  AND coalesce(r.attended_until <= to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), TRUE)
  AND NOT EXISTS (SELECT 1 FROM efforts e WHERE e.lease_owner IS NOT NULL AND e.run_id = r.id)
  AND (CAST(:project_id AS BIGINT) IS NULL OR r.project_id = :project_id)
ORDER BY r.id;
