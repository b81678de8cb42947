-- name: find
-- What is known of a driver's trouble.
SELECT driver, until, reason, failures FROM parked WHERE driver = :driver;

-- name: put
-- Leave a driver alone until a time; null only counts its failures.
INSERT INTO parked (driver, until, reason, failures) VALUES (:driver, :until, :reason, :failures)
ON CONFLICT (driver) DO UPDATE SET until = excluded.until, reason = excluded.reason, failures = excluded.failures;

-- name: remove
-- A driver works again.
DELETE FROM parked WHERE driver = :driver;

-- name: let_begin
-- Let what waits for a driver begin: what met its limit, and what came later and was put back until the same time.
UPDATE efforts SET not_before = NULL
WHERE lifecycle = 'queued' AND failure = 'limit' AND (driver = :driver OR not_before = :until)
RETURNING id;

-- name: parked_now
-- The drivers that are not to be used now.
SELECT driver, until, reason, failures FROM parked WHERE until > :now;

-- name: attempt
-- The adapter and the profile of an attempt that was begun, and when; a resumed session is as old as it is.
SELECT s.driver, e.driver AS profile, s.created_at FROM sessions s JOIN efforts e ON e.id = s.effort_id
WHERE s.effort_id = :effort_id AND s.generation = :generation AND s.instance IS NOT NULL;
