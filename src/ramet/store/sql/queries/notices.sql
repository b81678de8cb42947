-- name: add
-- Tell a person something, once.
INSERT INTO notices (kind, text, effort_id, session_id, created_at, dedupe_key)
VALUES (:kind, :text, :effort_id, :session_id, :now, :dedupe_key)
ON CONFLICT (dedupe_key) DO NOTHING
RETURNING id;

-- name: open_ones
-- What nobody has dismissed, the newest first.
SELECT id, kind, text, effort_id, session_id, created_at, dismissed_at
FROM notices WHERE dismissed_at IS NULL ORDER BY id DESC LIMIT :limit;

-- name: everything
-- The dismissed ones too.
SELECT id, kind, text, effort_id, session_id, created_at, dismissed_at FROM notices ORDER BY id DESC LIMIT :limit;

-- name: is_there
-- Whether there is such a notice.
SELECT 1 FROM notices WHERE id = :id;

-- name: dismiss
-- Put a notice aside; null means all of them.
UPDATE notices SET dismissed_at = :now
WHERE dismissed_at IS NULL AND (CAST(:id AS BIGINT) IS NULL OR id = :id)
RETURNING id, kind, text, effort_id, session_id, created_at, dismissed_at;
