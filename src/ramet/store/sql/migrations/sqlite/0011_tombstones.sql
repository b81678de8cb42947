-- What was purged: a blob whose content, or a commit whose author or metadata, held a secret. The row keeps its hash
-- and its size, so that histories stay whole; this says who removed the text, when and why.

CREATE TABLE tombstones (
    id        INTEGER PRIMARY KEY,
    subject   TEXT NOT NULL CHECK (subject IN ('blob', 'commit')),
    hash      BLOB NOT NULL CHECK (length(hash) = 32),
    size      INTEGER NOT NULL CHECK (size >= 0),
    purged_by TEXT NOT NULL,
    purged_at TEXT NOT NULL,
    reason    TEXT NOT NULL,
    UNIQUE (subject, hash)
) STRICT;
