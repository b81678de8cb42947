-- Until 83891017 the history's pointers had foreign keys, which every append pays for.

-- name: found
-- Whether the database has the superseded text.
SELECT 1 FROM pragma_foreign_key_list('commits') WHERE "from" = 'blob_id';

-- name: repair
-- A table only loses constraints, so its text changes and not its rows, as SQLite's documentation of ALTER TABLE
-- describes it. The view that comes and goes lets other connections read the schema again.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(replace(sql, ' REFERENCES commits (id)', ''), ' REFERENCES blobs (id)', '')
WHERE type = 'table' AND name IN ('commits', 'branches', 'moves');
PRAGMA writable_schema = RESET;
CREATE VIEW repaired AS SELECT 1;
DROP VIEW repaired;
