-- Until 444ddc9e each annotation had a revision of its own.

-- name: found
-- Whether the database has the superseded text.
SELECT 1 FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name = 'annotations' AND column_name = 'revision';

-- name: repair
-- The last revision becomes the number from which all are counted.
CREATE TABLE revisions (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    number BIGINT NOT NULL
);
INSERT INTO revisions (id, number) SELECT 1, max(revision) FROM annotations HAVING count(*) > 0;
ALTER TABLE annotations DROP COLUMN revision;
