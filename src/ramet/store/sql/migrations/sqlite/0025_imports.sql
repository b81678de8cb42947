-- How far each stored session of an agent program was imported. A source that has not changed since is not read again.
CREATE TABLE imports (
    host       TEXT NOT NULL DEFAULT '',
    vendor     TEXT NOT NULL,
    source     TEXT NOT NULL,
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    position   TEXT NOT NULL,
    size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
    changed_ms INTEGER NOT NULL,
    is_whole   INTEGER NOT NULL CHECK (is_whole IN (0, 1)),
    skipped    INTEGER NOT NULL CHECK (skipped >= 0),
    at         TEXT NOT NULL,
    native_id  TEXT,
    parent_id  TEXT,
    PRIMARY KEY (host, vendor, source)
) STRICT;

CREATE INDEX idx_imports_session ON imports (session_id);
CREATE INDEX idx_imports_native ON imports (vendor, native_id);
CREATE INDEX idx_imports_parent ON imports (vendor, parent_id) WHERE parent_id IS NOT NULL;
