-- name: find
-- What is known of a host's trouble.
SELECT name, failures, failed_at, reason, parked_at, parked_until FROM hosts WHERE name = :name;

-- name: list_all
-- The hosts that are in trouble, by name.
SELECT name, failures, failed_at, reason, parked_at, parked_until FROM hosts ORDER BY name;

-- name: put
-- Count a host's failures, or let it claim nothing until a time.
INSERT INTO hosts (name, failures, failed_at, reason, parked_at, parked_until)
VALUES (:name, :failures, :failed_at, :reason, :parked_at, :parked_until)
ON CONFLICT (name) DO UPDATE SET
    failures = excluded.failures, failed_at = excluded.failed_at, reason = excluded.reason,
    parked_at = excluded.parked_at, parked_until = excluded.parked_until;

-- name: remove
-- The host works again.
DELETE FROM hosts WHERE name = :name;

-- name: let_begin
-- Let the efforts that failed on a host begin there at once. It is kept where they failed.
UPDATE efforts SET not_before = NULL
WHERE lifecycle = 'queued' AND avoid_host = :name AND not_before IS NOT NULL
RETURNING id;

-- name: forget_failures
-- A person says that the host is well: that efforts failed there before says nothing about them.
UPDATE efforts SET avoid_host = NULL WHERE lifecycle = 'queued' AND avoid_host = :name;
