-- A session's title, and the session of which it is a copy.

ALTER TABLE sessions ADD COLUMN title TEXT;
ALTER TABLE sessions ADD COLUMN forked_from_session_id BIGINT REFERENCES sessions (id) ON DELETE SET NULL;

-- A view has the columns that its table had when it was made: this one gets those of the last migrations too.
DROP VIEW stale_sessions;
CREATE VIEW stale_sessions AS
SELECT s.*, t.dir_path AS task_dir
FROM sessions s
JOIN tasks t ON t.dir_path = s.task_id
WHERE s.ended_at IS NULL
  AND coalesce(s.last_heartbeat, s.created_at) < to_char(now() AT TIME ZONE 'UTC' - INTERVAL '5 minutes', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
