-- name: efforts
-- The newest efforts whose names start with a prefix. A long prompt is cut here, so that a page stays small.
SELECT 'e' || e.id AS name, e.skill || ' ' || coalesce(e.outcome, e.lifecycle) AS state,
       substr(coalesce(e.prompt, t.title, e.task_id), 1, 200) AS title
FROM efforts e JOIN tasks t ON t.dir_path = e.task_id
WHERE substr('e' || e.id, 1, length(CAST(:prefix AS TEXT))) = :prefix
ORDER BY e.id DESC LIMIT :limit;

-- name: sessions
-- The newest sessions whose names start with a prefix, with the work of their efforts.
SELECT 's' || s.id AS name, coalesce(s.driver || ' ', '') || coalesce(s.outcome, 'open') AS state,
       substr(coalesce(s.title, e.prompt, t.title, e.task_id), 1, 200) AS title
FROM sessions s JOIN efforts e ON e.id = s.effort_id JOIN tasks t ON t.dir_path = e.task_id
WHERE substr('s' || s.id, 1, length(CAST(:prefix AS TEXT))) = :prefix
ORDER BY s.id DESC LIMIT :limit;

-- name: runs
-- The newest runs whose names start with a prefix.
SELECT 'r' || id AS name, mode AS state, name AS title
FROM runs
WHERE substr('r' || id, 1, length(CAST(:prefix AS TEXT))) = :prefix
ORDER BY id DESC LIMIT :limit;

-- name: branches
-- The newest branches whose names start with a prefix. Those of sessions are named by their sessions, unless asked for.
SELECT name, 'branch' AS state, '' AS title
FROM branches
WHERE substr(name, 1, length(CAST(:prefix AS TEXT))) = :prefix
  AND (substr(name, 1, 8) <> 'session/' OR substr(CAST(:prefix AS TEXT), 1, 8) = 'session/')
ORDER BY id DESC LIMIT :limit;
