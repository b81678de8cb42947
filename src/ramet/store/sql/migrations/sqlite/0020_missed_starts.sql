-- The sessions whose agents were not told what they are told at the start of a context window, because no daemon
-- answered the hook in time; and how that window began.
CREATE TABLE missed_starts (
    session_id INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    source     TEXT NOT NULL
) STRICT;
