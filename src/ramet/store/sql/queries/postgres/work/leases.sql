-- name: worker
-- What a worker may take (null where nobody has said), the effort that it holds already, and whether any lease has run
-- out by the server's time. Claims of one worker take turns.
SELECT (SELECT claims FROM agents WHERE id = :worker),
       coalesce((SELECT id FROM efforts WHERE lease_owner = :worker LIMIT 1),
                (SELECT e.id FROM agents a JOIN efforts e ON e.id = a.effort_id
                 WHERE a.id = :worker AND e.lifecycle <> 'finished')),
       EXISTS (SELECT 1 FROM efforts WHERE lease_expires_at < to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
FROM (SELECT pg_advisory_xact_lock(hashtextextended(:worker, 0))) AS turns;

-- name: claim_next
-- Give a worker the lease on the next effort that is ready, and that nobody else is about to take.
UPDATE efforts SET
    lifecycle = 'active', attempts = attempts + 1, not_before = NULL,
    lease_owner = :worker, lease_generation = lease_generation + 1, lease_expires_at = to_char(now() AT TIME ZONE 'UTC' + :lease_seconds * INTERVAL '1 second', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
WHERE id = (
    SELECT e.id FROM efforts e
    WHERE e.lifecycle = 'queued' AND coalesce(e.run_id, 0) = coalesce(CAST(:run_id AS BIGINT), 0) AND e.awaited_by IS NULL
      AND (e.not_before IS NULL OR e.not_before <= :now OR e.avoid_host <> CAST(:host AS TEXT))
      AND NOT EXISTS (
          SELECT 1 FROM dependencies d JOIN efforts n ON n.id = d.needs_id
          WHERE d.effort_id = e.id AND n.outcome IS DISTINCT FROM 'success'
            AND (d.needs = 'success' OR n.outcome IS NULL)
            AND (n.outcome IS DISTINCT FROM 'no_change' OR e.accepts_no_change + n.accepts_no_change = 0)
      )
      AND (CAST(:skills AS TEXT) IS NULL OR e.skill IN (SELECT json_array_elements_text(CAST(:skills AS JSON))))
      AND (CAST(:drivers AS TEXT) IS NULL OR e.driver IS NULL OR e.driver IN (SELECT json_array_elements_text(CAST(:drivers AS JSON))))
      AND (CAST(:project_id AS BIGINT) IS NULL OR :project_id = (SELECT t.project_id FROM tasks t WHERE t.dir_path = e.task_id))
      AND (CAST(:held AS TEXT) IS NULL OR (SELECT t.project_id FROM tasks t WHERE t.dir_path = e.task_id) NOT IN (
          SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:held AS JSON)) AS value))
      AND (CAST(:host AS TEXT) IS NULL OR EXISTS (
          SELECT 1 FROM tasks t JOIN project_paths p ON p.project_id = t.project_id
          WHERE t.dir_path = e.task_id AND p.host = :host
      ) OR NOT EXISTS (
          SELECT 1 FROM tasks t JOIN project_paths p ON p.project_id = t.project_id WHERE t.dir_path = e.task_id
      ))
    ORDER BY e.priority DESC, e.id LIMIT 1
    FOR UPDATE OF e SKIP LOCKED
)
RETURNING *;

-- name: claim
-- Give a worker the lease on an effort that is ready. Several machines share leases, so the server's time counts.
UPDATE efforts SET
    lifecycle = 'active', attempts = attempts + 1, not_before = NULL,
    lease_owner = :worker, lease_generation = lease_generation + 1, lease_expires_at = to_char(now() AT TIME ZONE 'UTC' + :lease_seconds * INTERVAL '1 second', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
WHERE id = :id AND lifecycle = 'queued'
RETURNING *;

-- name: expired
-- The efforts whose lease has run out by the server's time. For one lease after the server was started, and after an
-- outage that a daemon has noticed, those are left out that ran out meanwhile: their holders had no way to renew them,
-- and may have the outcome. A lease that ran out a week before the server was started is nobody's any more.
SELECT e.* FROM efforts e
WHERE e.lease_expires_at < to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  AND NOT (now() < pg_postmaster_start_time() + :lease_seconds * INTERVAL '1 second'
           AND e.lease_expires_at > to_char(pg_postmaster_start_time() AT TIME ZONE 'UTC' - INTERVAL '7 days', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  AND NOT EXISTS (
      SELECT 1 FROM events v
      WHERE v.dedupe_key < 'database.returned/z' AND v.dedupe_key > 'database.returned/' ||
            to_char(now() AT TIME ZONE 'UTC' - :lease_seconds * INTERVAL '1 second', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        AND CAST(v.data AS JSON) ->> 'away_from' < e.lease_expires_at)
ORDER BY e.lease_expires_at, e.id;

-- name: take_expired
-- The same, to be given to somebody else; not those that another one is about to take.
SELECT e.id, e.task_id, e.skill, e.attempts, e.agent_failures, e.host_failures, e.lease_owner, e.lease_generation,
       e.stop_request, e.metadata, e.avoid_host,
       (EXISTS (SELECT 1 FROM sessions s WHERE s.effort_id = e.id)
        OR EXISTS (SELECT 1 FROM agents a WHERE a.effort_id = e.id)) AS is_attended,
       EXISTS (SELECT 1 FROM efforts c JOIN sessions s ON s.id = c.awaited_by
               WHERE c.awaited_by IS NOT NULL AND s.effort_id = e.id) AS is_awaiting
FROM efforts e
WHERE e.lease_expires_at < to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  AND NOT (now() < pg_postmaster_start_time() + :lease_seconds * INTERVAL '1 second'
           AND e.lease_expires_at > to_char(pg_postmaster_start_time() AT TIME ZONE 'UTC' - INTERVAL '7 days', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  AND NOT EXISTS (
      SELECT 1 FROM events v
      WHERE v.dedupe_key < 'database.returned/z' AND v.dedupe_key > 'database.returned/' ||
            to_char(now() AT TIME ZONE 'UTC' - :lease_seconds * INTERVAL '1 second', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        AND CAST(v.data AS JSON) ->> 'away_from' < e.lease_expires_at)
ORDER BY e.lease_expires_at, e.id
FOR UPDATE OF e SKIP LOCKED;

-- name: renew
-- Let a lease go on.
UPDATE efforts SET lease_expires_at =
    to_char(now() AT TIME ZONE 'UTC' + :lease_seconds * INTERVAL '1 second', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
WHERE id = :id AND lease_generation = :generation AND lease_owner IS NOT NULL
RETURNING lease_expires_at, stop_request;

-- name: renew_if_low
-- Let a lease go on where a third of it is used up: an effort's row is large, and not written for each report.
UPDATE efforts SET lease_expires_at =
    to_char(now() AT TIME ZONE 'UTC' + :lease_seconds * INTERVAL '1 second', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
WHERE id = :id AND lease_generation = :generation AND lease_expires_at <
    to_char(now() AT TIME ZONE 'UTC' + (:lease_seconds * 2 / 3) * INTERVAL '1 second', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
RETURNING id;

-- name: held
-- An effort that somebody has a lease on, and whether anything has to be ended or let go with it. Nobody else changes it
-- until this transaction ends.
SELECT e.*, (EXISTS (SELECT 1 FROM sessions s WHERE s.effort_id = e.id)
             OR EXISTS (SELECT 1 FROM agents a WHERE a.effort_id = e.id)) AS is_attended,
       EXISTS (SELECT 1 FROM efforts c JOIN sessions s ON s.id = c.awaited_by
               WHERE c.awaited_by IS NOT NULL AND s.effort_id = e.id) AS is_awaiting
FROM efforts e WHERE e.id = :id
FOR UPDATE OF e;
