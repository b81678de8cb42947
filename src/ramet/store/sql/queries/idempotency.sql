-- name: find
-- The reply that was given to a key.
SELECT request_hash, reply FROM idempotency WHERE principal = :principal AND key = :key;

-- name: keep
-- Keep a reply for its key.
INSERT INTO idempotency (principal, key, request_hash, reply, at_ms)
VALUES (:principal, :key, :request_hash, :reply, :now_ms);

-- name: forget
-- Let go of some of the replies that are too old, the oldest first.
DELETE FROM idempotency WHERE (principal, key) IN (
    SELECT i.principal, i.key FROM idempotency i WHERE i.at_ms < :before_ms ORDER BY i.at_ms LIMIT :limit
)
RETURNING 1;
