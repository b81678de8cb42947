-- name: empty_blob
-- Remove a content and keep its row.
UPDATE blobs SET codec = :codec, data = :data WHERE id = :id;

-- name: bury
-- Say who removed a text, when and why. What was purged once has its tombstone.
INSERT INTO tombstones (subject, hash, size, purged_by, purged_at, reason)
VALUES (:subject, :hash, :size, :purged_by, :purged_at, :reason)
ON CONFLICT (subject, hash) DO NOTHING;

-- name: project_folders
-- The folders of projects, wherever they are.
SELECT path FROM projects UNION SELECT path FROM project_paths;
