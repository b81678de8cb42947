-- name: upsert
-- Register a project, or change its name where one is given.
INSERT INTO projects (path, name, created_at) VALUES (:path, :name, :now)
ON CONFLICT (path) DO UPDATE SET name = coalesce(excluded.name, projects.name)
RETURNING *;

-- name: remove
-- Take a project off the list.
UPDATE projects SET removed_at = :now WHERE id = :id AND removed_at IS NULL
RETURNING id;

-- name: restore
-- Put a project back on the list.
UPDATE projects SET removed_at = NULL WHERE id = :id AND removed_at IS NOT NULL
RETURNING id;

-- name: open_effort
-- An effort of a project that runs or waits.
SELECT e.id FROM efforts e JOIN tasks t ON t.dir_path = e.task_id
WHERE t.project_id = :id AND e.lifecycle <> 'finished' ORDER BY e.id LIMIT 1;

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
-- All projects on the list, and those off it if they are asked for, in the order of their registration.
SELECT * FROM projects WHERE removed_at IS NULL OR CAST(:removed AS INTEGER) = 1 ORDER BY id;

-- name: containing
-- The project one of whose paths is the longest that contains this one.
SELECT p.* FROM projects p
JOIN (SELECT id, path FROM projects UNION SELECT project_id, path FROM project_paths) AS known ON known.id = p.id
WHERE p.removed_at IS NULL
  AND (known.path = :path OR known.path = '/' OR substr(:path, 1, length(known.path) + 1) = known.path || '/')
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
