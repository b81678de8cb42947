-- name: exclude_others
-- Let only one process migrate at a time: until this connection is closed.
SELECT pg_advisory_lock(7236461);

-- name: tables
-- The names of the tables that are there.
SELECT tablename FROM pg_tables WHERE schemaname = current_schema();
