-- Until 444ddc9e the name of a child history was unique by its column, and not by its index.

-- name: found
-- Whether the database has the superseded text; migration 13 makes the table again without it.
SELECT 1 FROM sqlite_schema WHERE name = 'spawn_pointers' AND sql LIKE '%child_branch %TEXT NOT NULL UNIQUE,%';

-- name: repair
-- SQLite drops no unique column in place, and `collapses` refers to the table, so both are made again.
ALTER TABLE collapses RENAME TO old_collapses;
ALTER TABLE spawn_pointers RENAME TO old_spawn_pointers;
CREATE TABLE spawn_pointers (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    parent_branch     TEXT NOT NULL,
    parent_commit_id  INTEGER REFERENCES commits (id) ON DELETE SET NULL,
    child_branch      TEXT NOT NULL,
    purpose           TEXT NOT NULL,
    inheritance_mode  TEXT NOT NULL CHECK (inheritance_mode IN ('full_clone', 'head_snapshot', 'selective')),
    display_name      TEXT CHECK (length(display_name) <= 255),
    created_at        TEXT NOT NULL,
    parent_session_id INTEGER REFERENCES sessions (id) ON DELETE SET NULL,
    child_session_id  INTEGER REFERENCES sessions (id) ON DELETE SET NULL,
    CHECK (parent_branch <> child_branch)
) STRICT;
INSERT INTO spawn_pointers (id, parent_branch, parent_commit_id, child_branch, purpose, inheritance_mode, display_name,
                            created_at, parent_session_id, child_session_id)
SELECT id, parent_branch, parent_commit_id, child_branch, purpose, inheritance_mode, display_name,
       created_at, parent_session_id, child_session_id
FROM old_spawn_pointers;
CREATE TABLE collapses (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    spawn_id      INTEGER NOT NULL REFERENCES spawn_pointers (id) ON DELETE CASCADE,
    commit_id     INTEGER NOT NULL UNIQUE REFERENCES commits (id) ON DELETE CASCADE,
    child_head_id INTEGER REFERENCES commits (id) ON DELETE SET NULL,
    at_ms         INTEGER NOT NULL
) STRICT;
INSERT INTO collapses (id, spawn_id, commit_id, child_head_id, at_ms)
SELECT id, spawn_id, commit_id, child_head_id, at_ms FROM old_collapses;
-- In this order: dropping the pointers first would drop what refers to them.
DROP TABLE old_collapses;
DROP TABLE old_spawn_pointers;
CREATE INDEX ix_spawn_parent_tract ON spawn_pointers (parent_branch);
CREATE UNIQUE INDEX ix_spawn_child_tract ON spawn_pointers (child_branch);
CREATE INDEX idx_spawn_pointers_commit ON spawn_pointers (parent_commit_id);
CREATE INDEX idx_collapses_spawn ON collapses (spawn_id);
CREATE INDEX idx_collapses_child_head ON collapses (child_head_id);
