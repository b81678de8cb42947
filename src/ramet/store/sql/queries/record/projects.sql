-- name: upsert
-- Register a project, or change its name where one is given.
INSERT INTO projects (path, name, created_at) VALUES (:path, :name, :now)
ON CONFLICT (path) DO UPDATE SET name = coalesce(excluded.name, projects.name)
RETURNING *;

-- name: rename
-- Change a project's name, whichever its path here is.
UPDATE projects SET name = :name WHERE id = :id;

-- name: at_path
-- The project registered at exactly this path, on whichever host.
SELECT * FROM projects
WHERE path = :path OR id IN (SELECT pp.project_id FROM project_paths pp WHERE pp.path = :path)
ORDER BY id LIMIT 1;

-- name: by_id
-- A project by its id.
SELECT * FROM projects WHERE id = :id;

-- name: by_remote
-- The project that has this git remote.
SELECT * FROM projects WHERE remote = :remote;

-- name: everything
-- All projects in the order of their registration.
SELECT * FROM projects ORDER BY id;

-- name: containing
-- The project one of whose paths is the longest that contains this one.
SELECT p.* FROM projects p
JOIN (SELECT id, path FROM projects UNION SELECT project_id, path FROM project_paths) AS known ON known.id = p.id
WHERE known.path = :path OR known.path = '/' OR substr(:path, 1, length(known.path) + 1) = known.path || '/'
ORDER BY length(known.path) DESC, p.id LIMIT 1;

-- name: paths
-- Where on each host the projects are; a null project means all of them.
SELECT project_id, host, path FROM project_paths
WHERE CAST(:project_id AS BIGINT) IS NULL OR project_id = :project_id;

-- name: put_path
-- Where on a host a project is.
INSERT INTO project_paths (project_id, host, path) VALUES (:project_id, :host, :path);

-- name: set_remote
-- The git remote by which other machines know a project.
UPDATE projects SET remote = :remote WHERE id = :id;
