-- name: upsert
-- Register a project, or change its name where one is given.
INSERT INTO projects (path, name, created_at) VALUES (:path, :name, :now)
ON CONFLICT (path) DO UPDATE SET name = coalesce(excluded.name, projects.name)
RETURNING *;

-- name: at_path
-- The project registered at exactly this path.
SELECT * FROM projects WHERE path = :path;

-- name: by_id
-- A project by its id.
SELECT * FROM projects WHERE id = :id;

-- name: everything
-- All projects in the order of their registration.
SELECT * FROM projects ORDER BY id;

-- name: containing
-- The project whose path is the longest that contains this one.
SELECT * FROM projects
WHERE path = :path OR path = '/' OR substr(:path, 1, length(path) + 1) = path || '/'
ORDER BY length(path) DESC LIMIT 1;
