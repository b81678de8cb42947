-- Until f2414985 the check allowed two more kinds of notices, which nothing wrote.

-- name: found
-- Whether the database has the superseded text; migration 7 replaces the check.
SELECT 1 FROM pg_constraint WHERE conname = 'notices_kind_check' AND connamespace = current_schema()::regnamespace
AND pg_get_constraintdef(oid) LIKE '%''preserved''%' AND pg_get_constraintdef(oid) LIKE '%''run_bound''%';

-- name: repair
-- Replace the check.
ALTER TABLE notices DROP CONSTRAINT notices_kind_check;
ALTER TABLE notices ADD CONSTRAINT notices_kind_check CHECK (kind IN
    ('gave_up', 'timeout', 'stuck', 'limit', 'cut', 'run_bound', 'review_bound', 'parked'));
