-- name: find
-- How far a source was imported, and into which session.
SELECT session_id, position, size_bytes, changed_ms, is_whole, skipped FROM imports
WHERE host = :host AND vendor = :vendor AND source = :source;

-- name: put
-- How far a source was imported.
INSERT INTO imports (host, vendor, source, session_id, position, size_bytes, changed_ms, is_whole, skipped, at,
                     native_id, parent_id)
VALUES (:host, :vendor, :source, :session_id, :position, :size_bytes, :changed_ms, :is_whole, :skipped, :now,
        :native_id, :parent_id)
ON CONFLICT (host, vendor, source) DO UPDATE SET
    session_id = excluded.session_id, position = excluded.position, size_bytes = excluded.size_bytes,
    changed_ms = excluded.changed_ms, is_whole = excluded.is_whole, skipped = excluded.skipped, at = excluded.at,
    native_id = coalesce(excluded.native_id, imports.native_id),
    parent_id = coalesce(excluded.parent_id, imports.parent_id);

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

-- name: session_of
-- The newest imported session that its program knows by an id: a sub-agent has another name here.
SELECT max(session_id) FROM imports WHERE vendor = :vendor AND native_id = :native_id;

-- name: orphans
-- Imported sub-agents of a session that was not known when they were imported.
SELECT DISTINCT i.session_id FROM imports i JOIN sessions s ON s.id = i.session_id
WHERE i.vendor = :vendor AND i.parent_id = :parent_id AND s.parent_session_id IS NULL
ORDER BY i.session_id;

-- name: adopt
-- Put a root session, with all below it, below another one. None that is in its own tree.
UPDATE sessions SET root_session_id = :root, spawn_depth = spawn_depth + :deeper,
                    parent_session_id = CASE WHEN id = :id THEN :parent ELSE parent_session_id END
WHERE root_session_id = :id;
