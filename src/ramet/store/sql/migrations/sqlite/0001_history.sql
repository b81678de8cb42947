-- The history: content by hash, commits in segments, branches as pointers, moves so that a rewrite can be undone.
--
-- Pointers between these tables carry no foreign keys: each would need an index that every append pays for, and only
-- garbage collection ever deletes. The store keeps them whole, and `db.check` verifies every one.

CREATE TABLE schema_migrations (
    number     INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    applied_at TEXT NOT NULL
) STRICT;

CREATE TABLE blobs (
    id    INTEGER PRIMARY KEY,
    hash  BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    codec INTEGER NOT NULL CHECK (codec >= 0),
    size  INTEGER NOT NULL CHECK (size >= 0),
    data  BLOB NOT NULL
) STRICT;

-- A run of commits with consecutive seq that grows out of one place of another run.
CREATE TABLE segments (
    id              INTEGER PRIMARY KEY,
    base_segment_id INTEGER REFERENCES segments (id),
    base_seq        INTEGER NOT NULL DEFAULT 0 CHECK (base_seq >= 0),
    CHECK ((base_segment_id IS NULL) = (base_seq = 0))
) STRICT;

-- token_sum counts the tokens of a commit and of all before it, so that a budget is a range of seq.
CREATE TABLE commits (
    id               INTEGER PRIMARY KEY,
    hash             BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    segment_id       INTEGER NOT NULL REFERENCES segments (id),
    seq              INTEGER NOT NULL CHECK (seq >= 1),
    parent_id        INTEGER,
    second_parent_id INTEGER,
    blob_id          INTEGER NOT NULL,
    content_type     TEXT NOT NULL,
    role             TEXT NOT NULL,
    operation        TEXT NOT NULL DEFAULT 'append' CHECK (operation IN ('append', 'edit')),
    target_id        INTEGER,
    author           TEXT NOT NULL,
    at_ms            INTEGER,
    created_ms       INTEGER NOT NULL,
    tokens           INTEGER NOT NULL CHECK (tokens >= 0),
    token_sum        INTEGER NOT NULL CHECK (token_sum >= tokens),
    metadata         TEXT,
    UNIQUE (segment_id, seq)
) STRICT;

CREATE TABLE branches (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    commit_id  INTEGER,
    created_ms INTEGER NOT NULL
) STRICT;

-- Every move of a branch that is not a plain append.
CREATE TABLE moves (
    id            INTEGER PRIMARY KEY,
    branch_name   TEXT NOT NULL,
    old_commit_id INTEGER,
    new_commit_id INTEGER,
    why           TEXT NOT NULL,
    at_ms         INTEGER NOT NULL
) STRICT;

CREATE INDEX idx_moves_branch ON moves (branch_name, id);
