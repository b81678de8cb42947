-- name: find
-- How far a source was imported, and into which session.
SELECT session_id, position, size_bytes, changed_ms, is_whole, skipped FROM imports
WHERE host = :host AND vendor = :vendor AND source = :source;

-- name: put
-- How far a source was imported.
INSERT INTO imports (host, vendor, source, session_id, position, size_bytes, changed_ms, is_whole, skipped, at)
VALUES (:host, :vendor, :source, :session_id, :position, :size_bytes, :changed_ms, :is_whole, :skipped, :now)
ON CONFLICT (host, vendor, source) DO UPDATE SET
    session_id = excluded.session_id, position = excluded.position, size_bytes = excluded.size_bytes,
    changed_ms = excluded.changed_ms, is_whole = excluded.is_whole, skipped = excluded.skipped, at = excluded.at;

-- name: page
-- The sources of a host behind one, in the order of their names.
SELECT vendor, source, session_id, position, size_bytes, changed_ms, is_whole, skipped FROM imports
WHERE host = :host AND (vendor > :vendor OR (vendor = :vendor AND source > :source))
ORDER BY vendor, source LIMIT :limit;

-- name: unlist
-- A project that is known only by what was recorded in it is not on the list.
UPDATE projects SET removed_at = :now WHERE id = :id;

-- name: extend_session
-- A session that is over lasted longer than was known.
UPDATE sessions SET ended_at = :at WHERE id = :id AND ended_at IS NOT NULL AND ended_at < :at
RETURNING effort_id;

-- name: extend_effort
-- So did its effort.
UPDATE efforts SET finished_at = :at WHERE id = :id AND finished_at IS NOT NULL AND finished_at < :at;
