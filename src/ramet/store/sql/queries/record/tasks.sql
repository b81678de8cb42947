-- name: upsert
-- Create a task, or change what is given.
INSERT INTO tasks (dir_path, project_id, workspace, title, description, keywords, created_at)
VALUES (:dir_path, :project_id, :workspace, :title, :description, :keywords, :now)
ON CONFLICT (dir_path) DO UPDATE SET
    workspace = coalesce(excluded.workspace, tasks.workspace),
    title = coalesce(excluded.title, tasks.title),
    description = coalesce(excluded.description, tasks.description),
    keywords = coalesce(excluded.keywords, tasks.keywords);

-- name: summary
-- A task and what its efforts say about it.
SELECT * FROM task_summary WHERE dir_path = :dir_path;

-- name: facts
-- A task's project and keywords.
SELECT project_id, keywords FROM tasks WHERE dir_path = :dir_path;

-- name: set_keywords
-- Replace a task's keywords.
UPDATE tasks SET keywords = :keywords WHERE dir_path = :dir_path;

-- name: matching
-- Tasks by word, workspace and project, the most recently active first. Nulls match everything.
SELECT * FROM task_summary
WHERE (CAST(:project_id AS BIGINT) IS NULL OR project_id = :project_id)
  AND (CAST(:workspace AS TEXT) IS NULL OR workspace = :workspace)
  AND (CAST(:pattern AS TEXT) IS NULL
       OR lower(dir_path || ' ' || coalesce(workspace, '') || ' ' || coalesce(title, '') || ' '
                || coalesce(description, '') || ' ' || coalesce(keywords, '')) LIKE :pattern ESCAPE '!')
ORDER BY coalesce(last_activity, created_at) DESC, dir_path;
