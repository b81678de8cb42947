-- Archives and purged contents: the name of this database, which rows of others it has imported, and which sessions and
-- runs are out of the lists or without their texts.

CREATE TABLE origins (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    name TEXT NOT NULL
);

INSERT INTO origins (id, name) VALUES (1, replace(gen_random_uuid()::text, '-', ''));

-- A row of another database's archive, and the row that it became here.
CREATE TABLE archived_keys (
    origin      TEXT NOT NULL,
    subject     TEXT NOT NULL,
    foreign_key TEXT NOT NULL,
    local_key   TEXT NOT NULL,
    PRIMARY KEY (origin, subject, foreign_key)
);

CREATE INDEX idx_archived_keys_local ON archived_keys (subject, local_key);

ALTER TABLE sessions ADD COLUMN archived_at TEXT;
ALTER TABLE sessions ADD COLUMN purged_at TEXT;
ALTER TABLE runs ADD COLUMN purged_at TEXT;

-- Where in the history the texts of purged sessions and runs were: a content that only such commits carry is purged too.
CREATE TABLE purged_spans (
    segment_id BIGINT NOT NULL,
    first_seq  BIGINT NOT NULL,
    last_seq   BIGINT NOT NULL,
    PRIMARY KEY (segment_id, first_seq, last_seq)
);

-- Purges that have begun and are not done: another step follows until the row is gone.
CREATE TABLE purges (
    branch    TEXT PRIMARY KEY NOT NULL,
    purged_by TEXT NOT NULL,
    purged_at TEXT NOT NULL,
    reason    TEXT NOT NULL
);

-- Retention looks for the oldest sessions that still have their texts.
CREATE INDEX idx_sessions_kept ON sessions (ended_at) WHERE ended_at IS NOT NULL AND purged_at IS NULL;

-- A view has the columns that its table had when it was made: this one gets the new ones too.
DROP VIEW stale_sessions;
CREATE VIEW stale_sessions AS
SELECT s.*, t.dir_path AS task_dir
FROM sessions s
JOIN tasks t ON t.dir_path = s.task_id
WHERE s.ended_at IS NULL
  AND coalesce(s.last_heartbeat, s.created_at) < to_char(now() AT TIME ZONE 'UTC' - INTERVAL '5 minutes', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
