-- Until 444ddc9e each annotation had a revision of its own.

-- name: found
-- Whether the database has the superseded text.
SELECT 1 FROM pragma_table_info('annotations') WHERE name = 'revision';

-- name: repair
-- The last revision becomes the number from which all are counted. SQLite drops no unique column in place. A file that
-- was exported from such a database on a server has both.
CREATE TABLE IF NOT EXISTS revisions (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    number INTEGER NOT NULL
) STRICT;
INSERT INTO revisions (id, number) SELECT 1, max(revision) FROM annotations HAVING count(*) > 0
ON CONFLICT DO NOTHING;
ALTER TABLE annotations RENAME TO old_annotations;
CREATE TABLE annotations (
    commit_id INTEGER PRIMARY KEY REFERENCES commits (id) ON DELETE CASCADE,
    priority  TEXT NOT NULL CHECK (priority IN ('skip', 'normal', 'important', 'pinned'))
) STRICT;
INSERT INTO annotations (commit_id, priority) SELECT commit_id, priority FROM old_annotations;
DROP TABLE old_annotations;
