-- What makes a history a context: how much each commit matters, what kinds there are, and who was spawned from whom.

-- What a provider counted, beside our own estimate.
ALTER TABLE commits ADD COLUMN reported_tokens INTEGER;

CREATE TABLE annotations (
    commit_id INTEGER PRIMARY KEY REFERENCES commits (id) ON DELETE CASCADE,
    priority  TEXT NOT NULL CHECK (priority IN ('skip', 'normal', 'important', 'pinned'))
) STRICT;

-- One row. The number grows with every annotation and with every collection of garbage, and never falls, so that
-- whoever keeps something compiled sees that it is out of date.
CREATE TABLE revisions (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    number INTEGER NOT NULL
) STRICT;

CREATE TABLE tags (
    commit_id INTEGER NOT NULL REFERENCES commits (id) ON DELETE CASCADE,
    tag       TEXT NOT NULL,
    PRIMARY KEY (commit_id, tag)
) STRICT;

CREATE INDEX idx_tags_tag ON tags (tag);

CREATE TABLE content_types (
    name                 TEXT PRIMARY KEY NOT NULL,
    default_role         TEXT NOT NULL CHECK (default_role IN ('system', 'user', 'assistant', 'tool')),
    default_priority     TEXT NOT NULL CHECK (default_priority IN ('skip', 'normal', 'important', 'pinned')),
    compression_priority INTEGER NOT NULL CHECK (compression_priority BETWEEN 0 AND 100),
    compiles             INTEGER NOT NULL CHECK (compiles IN (0, 1))
) STRICT;

-- A child history has one parent. The commit is where the parent stood; the pointer outlives it.
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

CREATE INDEX ix_spawn_parent_tract ON spawn_pointers (parent_branch);
CREATE UNIQUE INDEX ix_spawn_child_tract ON spawn_pointers (child_branch);
CREATE INDEX idx_spawn_pointers_commit ON spawn_pointers (parent_commit_id);

-- The commits by which a parent took in what a child had done, and where the child then stood.
CREATE TABLE collapses (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    spawn_id      INTEGER NOT NULL REFERENCES spawn_pointers (id) ON DELETE CASCADE,
    commit_id     INTEGER NOT NULL UNIQUE REFERENCES commits (id) ON DELETE CASCADE,
    child_head_id INTEGER REFERENCES commits (id) ON DELETE SET NULL,
    at_ms         INTEGER NOT NULL
) STRICT;

CREATE INDEX idx_collapses_spawn ON collapses (spawn_id);
CREATE INDEX idx_collapses_child_head ON collapses (child_head_id);

-- A move that takes another back names it, so that nothing is undone twice.
ALTER TABLE moves ADD COLUMN undoes INTEGER REFERENCES moves (id) ON DELETE SET NULL;
