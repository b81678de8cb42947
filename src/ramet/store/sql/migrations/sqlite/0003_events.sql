-- The append-only log of what changed, and the replies kept for their idempotency keys.

CREATE TABLE events (
    id         INTEGER PRIMARY KEY,
    kind       TEXT NOT NULL,
    at_ms      INTEGER NOT NULL,
    project_id INTEGER,
    task_id    TEXT,
    effort_id  INTEGER,
    session_id INTEGER,
    agent_id   TEXT,
    dedupe_key TEXT,
    data       TEXT
) STRICT;

CREATE UNIQUE INDEX idx_events_dedupe ON events (dedupe_key) WHERE dedupe_key IS NOT NULL;

CREATE TABLE idempotency (
    principal    TEXT NOT NULL,
    key          TEXT NOT NULL,
    request_hash BLOB NOT NULL,
    reply        BLOB NOT NULL,
    at_ms        INTEGER NOT NULL,
    PRIMARY KEY (principal, key)
) STRICT;

CREATE INDEX idx_idempotency_at ON idempotency (at_ms);
