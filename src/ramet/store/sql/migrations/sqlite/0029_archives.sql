-- Archives and purged contents: the name of this database, which rows of others it has imported, and which sessions and
-- runs are out of the lists or without their texts.

CREATE TABLE origins (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    name TEXT NOT NULL
) STRICT;

INSERT INTO origins (id, name) VALUES (1, lower(hex(randomblob(16))));

-- A row of another database's archive, and the row that it became here.
CREATE TABLE archived_keys (
    origin      TEXT NOT NULL,
    subject     TEXT NOT NULL,
    foreign_key TEXT NOT NULL,
    local_key   TEXT NOT NULL,
    PRIMARY KEY (origin, subject, foreign_key)
) STRICT;

CREATE INDEX idx_archived_keys_local ON archived_keys (subject, local_key);

ALTER TABLE sessions ADD COLUMN archived_at TEXT;
ALTER TABLE sessions ADD COLUMN purged_at TEXT;
ALTER TABLE runs ADD COLUMN purged_at TEXT;

-- Where in the history the texts of purged sessions and runs were: a content that only such commits carry is purged too.
CREATE TABLE purged_spans (
    segment_id INTEGER NOT NULL,
    first_seq  INTEGER NOT NULL,
    last_seq   INTEGER NOT NULL,
    PRIMARY KEY (segment_id, first_seq, last_seq)
) STRICT;

-- Purges that have begun and are not done: another step follows until the row is gone.
CREATE TABLE purges (
    branch    TEXT PRIMARY KEY NOT NULL,
    purged_by TEXT NOT NULL,
    purged_at TEXT NOT NULL,
    reason    TEXT NOT NULL
) STRICT;

-- Retention looks for the oldest sessions that still have their texts.
CREATE INDEX idx_sessions_kept ON sessions (ended_at) WHERE ended_at IS NOT NULL AND purged_at IS NULL;
