-- One more kind of notice, about a damaged database: SQLite changes no check in place.
ALTER TABLE notices RENAME TO old_notices;
CREATE TABLE notices (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    kind         TEXT NOT NULL CHECK (kind IN
                     ('changed_files', 'unreadable_verdict', 'gave_up', 'timeout', 'stuck', 'limit', 'cut', 'run_bound',
                      'review_bound', 'parked', 'budget', 'refused', 'damaged')),
    text         TEXT NOT NULL,
    effort_id    INTEGER REFERENCES efforts (id) ON DELETE CASCADE,
    session_id   INTEGER REFERENCES sessions (id) ON DELETE SET NULL,
    created_at   TEXT NOT NULL,
    dismissed_at TEXT,
    dedupe_key   TEXT NOT NULL UNIQUE
) STRICT;

INSERT INTO notices (id, kind, text, effort_id, session_id, created_at, dismissed_at, dedupe_key)
SELECT id, kind, text, effort_id, session_id, created_at, dismissed_at, dedupe_key FROM old_notices;
DROP TABLE old_notices;
CREATE INDEX idx_notices_open ON notices (id) WHERE dismissed_at IS NULL;
CREATE INDEX idx_notices_effort ON notices (effort_id);
