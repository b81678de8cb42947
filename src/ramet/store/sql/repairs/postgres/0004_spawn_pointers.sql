-- Until 444ddc9e the name of a child history was unique by its column, and not by its index.

-- name: found
-- Whether the database has the superseded text.
SELECT 1 FROM pg_constraint
WHERE conname = 'spawn_pointers_child_branch_key' AND connamespace = current_schema()::regnamespace;

-- name: repair
-- The index takes the place of the constraint.
ALTER TABLE spawn_pointers DROP CONSTRAINT spawn_pointers_child_branch_key;
DROP INDEX ix_spawn_child_tract;
CREATE UNIQUE INDEX ix_spawn_child_tract ON spawn_pointers (child_branch);
