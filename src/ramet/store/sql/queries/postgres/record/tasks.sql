-- name: matching
-- Tasks by word, workspace and project, the most recently active first. Nulls match everything. The "C" collation
-- knows the lower case of the letters A to Z and of no others, as SQLite does, whatever the server's own language.
SELECT * FROM task_summary
WHERE (CAST(:project_id AS BIGINT) IS NULL OR project_id = :project_id)
  AND (CAST(:workspace AS TEXT) IS NULL OR workspace = :workspace)
  AND (CAST(:pattern AS TEXT) IS NULL
       OR lower((dir_path || ' ' || coalesce(workspace, '') || ' ' || coalesce(title, '') || ' '
                 || coalesce(description, '') || ' ' || coalesce(keywords, '')) COLLATE "C") LIKE :pattern ESCAPE '!')
ORDER BY coalesce(last_activity, created_at) DESC, dir_path COLLATE "C";
