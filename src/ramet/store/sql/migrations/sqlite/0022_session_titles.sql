-- A session's title, and the session of which it is a copy.

ALTER TABLE sessions ADD COLUMN title TEXT;
ALTER TABLE sessions ADD COLUMN forked_from_session_id INTEGER REFERENCES sessions (id) ON DELETE SET NULL;
