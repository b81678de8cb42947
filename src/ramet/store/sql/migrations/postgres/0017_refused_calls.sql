-- Refused calls: what agents wanted to do and their owner has not allowed, each once.

CREATE TABLE refused_calls (
    session_id BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    subject    TEXT NOT NULL CHECK (subject IN ('host', 'tool')),
    name       TEXT NOT NULL,
    key        TEXT NOT NULL,
    effort_id  BIGINT NOT NULL REFERENCES efforts (id) ON DELETE CASCADE,
    call       TEXT NOT NULL,
    rules      TEXT NOT NULL,
    advice     TEXT NOT NULL,
    times      BIGINT NOT NULL CHECK (times > 0),
    created_at TEXT NOT NULL,
    PRIMARY KEY (session_id, subject, name, key)
);

CREATE INDEX idx_refused_calls_effort ON refused_calls (effort_id);

-- One more kind of notice.
ALTER TABLE notices DROP CONSTRAINT notices_kind_check;
ALTER TABLE notices ADD CONSTRAINT notices_kind_check CHECK (kind IN
    ('changed_files', 'unreadable_verdict', 'gave_up', 'timeout', 'stuck', 'limit', 'cut', 'run_bound', 'review_bound',
     'parked', 'budget', 'refused'));
