-- Until 83891017 the history's pointers had foreign keys, which every append pays for.

-- name: found
-- Whether the database has the superseded text.
SELECT 1 FROM pg_constraint WHERE conname = 'commits_blob_id_fkey' AND connamespace = current_schema()::regnamespace;

-- name: repair
-- Drop them.
ALTER TABLE commits DROP CONSTRAINT commits_parent_id_fkey;
ALTER TABLE commits DROP CONSTRAINT commits_second_parent_id_fkey;
ALTER TABLE commits DROP CONSTRAINT commits_blob_id_fkey;
ALTER TABLE commits DROP CONSTRAINT commits_target_id_fkey;
ALTER TABLE branches DROP CONSTRAINT branches_commit_id_fkey;
ALTER TABLE moves DROP CONSTRAINT moves_old_commit_id_fkey;
ALTER TABLE moves DROP CONSTRAINT moves_new_commit_id_fkey;
