-- Hosts that failed before an agent began: how often in a row, and since when one claims nothing.
CREATE TABLE hosts (
    name         TEXT PRIMARY KEY NOT NULL,
    failures     INTEGER NOT NULL CHECK (failures >= 0),
    failed_at    TEXT,
    reason       TEXT NOT NULL,
    parked_at    TEXT,
    parked_until TEXT,
    CHECK (parked_at IS NOT NULL OR parked_until IS NULL)
) STRICT;

-- The host that `not_before` is about, if other hosts need not wait; and the host whose clone has the branch.
ALTER TABLE efforts ADD COLUMN avoid_host TEXT;
ALTER TABLE efforts ADD COLUMN git_host TEXT;
