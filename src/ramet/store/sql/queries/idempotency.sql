-- name: find
-- The reply that was given to a key.
SELECT request_hash, reply FROM idempotency WHERE principal = :principal AND key = :key;

-- name: keep
-- Keep a reply for its key.
INSERT INTO idempotency (principal, key, request_hash, reply, at_ms)
VALUES (:principal, :key, :request_hash, :reply, :now_ms);

-- name: forget
-- Let go of replies that are too old.
DELETE FROM idempotency WHERE at_ms < :before_ms;
