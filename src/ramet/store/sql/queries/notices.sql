-- name: add
-- Tell a person something, once.
INSERT INTO notices (kind, text, effort_id, session_id, created_at, dedupe_key)
VALUES (:kind, :text, :effort_id, :session_id, :now, :dedupe_key)
ON CONFLICT (dedupe_key) DO NOTHING
RETURNING id;

-- name: open_ones
-- What nobody has dismissed, the newest first; with a project, its own and those of none.
SELECT n.id, n.kind, n.text, n.effort_id, n.session_id, n.created_at, n.dismissed_at, t.project_id
FROM notices n LEFT JOIN efforts e ON e.id = n.effort_id LEFT JOIN tasks t ON t.dir_path = e.task_id
WHERE n.dismissed_at IS NULL AND n.id < :before
  AND (CAST(:project_id AS BIGINT) IS NULL OR t.project_id IS NULL OR t.project_id = :project_id)
ORDER BY n.id DESC LIMIT :limit;

-- name: everything
-- The dismissed ones too.
SELECT n.id, n.kind, n.text, n.effort_id, n.session_id, n.created_at, n.dismissed_at, t.project_id
FROM notices n LEFT JOIN efforts e ON e.id = n.effort_id LEFT JOIN tasks t ON t.dir_path = e.task_id
WHERE n.id < :before
  AND (CAST(:project_id AS BIGINT) IS NULL OR t.project_id IS NULL OR t.project_id = :project_id)
ORDER BY n.id DESC LIMIT :limit;

-- name: is_there
-- Whether there is such a notice.
SELECT 1 FROM notices WHERE id = :id;

-- name: dismiss
-- Put a notice aside; null means all of them, or all that a list of the project has.
UPDATE notices SET dismissed_at = :now
WHERE dismissed_at IS NULL AND (CAST(:id AS BIGINT) IS NULL OR id = :id)
  AND (CAST(:project_id AS BIGINT) IS NULL OR coalesce(
      (SELECT t.project_id FROM efforts e JOIN tasks t ON t.dir_path = e.task_id WHERE e.id = notices.effort_id), :project_id
  ) = :project_id)
RETURNING id, kind, text, effort_id, session_id, created_at, dismissed_at,
          (SELECT t.project_id FROM efforts e JOIN tasks t ON t.dir_path = e.task_id WHERE e.id = notices.effort_id)
          AS project_id;
