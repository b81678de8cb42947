-- Until 83891017 a message had a foreign key to its commit.

-- name: found
-- Whether the database has the superseded text.
SELECT 1 FROM pragma_foreign_key_list('messages') WHERE "from" = 'commit_id';

-- name: repair
-- As for the history.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, ' REFERENCES commits (id)', '') WHERE type = 'table' AND name = 'messages';
PRAGMA writable_schema = RESET;
CREATE VIEW repaired AS SELECT 1;
DROP VIEW repaired;
