-- name: exclude_others
-- Let only one process migrate at a time; SQLite's writer is alone already.
SELECT 1;

-- name: record
-- Note that a migration has been applied.
INSERT INTO schema_migrations (number, name, applied_at) VALUES (:number, :name, :applied_at);

-- name: version
-- The number of the last migration.
SELECT coalesce(max(number), 0) FROM schema_migrations;

-- name: tables
-- The names of the tables that are there.
SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!';

-- name: triggers_and_views
-- What would run with a write or answer in place of a table: its kind, its name and its statement.
SELECT type, name, sql FROM sqlite_schema WHERE type IN ('trigger', 'view')
UNION ALL
SELECT 'table', name, sql FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL%';

-- name: records
-- The migrations that the database says were applied to it.
SELECT number, name FROM schema_migrations ORDER BY number;

-- name: hashes
-- The same, with the hash of each text; null if it was applied before hashes were recorded, and is not proved yet.
SELECT number, name, hash FROM schema_migrations ORDER BY number;

-- name: record_hash
-- Note which text of a migration was applied.
UPDATE schema_migrations SET hash = :hash WHERE number = :number;
