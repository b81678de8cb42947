-- Until 83891017 a message had a foreign key to its commit.

-- name: found
-- Whether the database has the superseded text.
SELECT 1 FROM pg_constraint WHERE conname = 'messages_commit_id_fkey' AND connamespace = current_schema()::regnamespace;

-- name: repair
-- Drop it.
ALTER TABLE messages DROP CONSTRAINT messages_commit_id_fkey;
