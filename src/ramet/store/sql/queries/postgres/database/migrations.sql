-- name: exclude_others
-- Let only one process migrate at a time: until this connection is closed.
SELECT pg_advisory_lock(7236461);

-- name: tables
-- The names of the tables that are there.
SELECT tablename FROM pg_tables WHERE schemaname = current_schema();

-- name: triggers_and_views
-- The triggers on tables of the schema.
SELECT 'trigger', tgname::text, NULL FROM pg_trigger
JOIN pg_class ON pg_class.oid = tgrelid
JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE NOT tgisinternal AND nspname = current_schema();
