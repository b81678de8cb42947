-- name: matching
-- Skills whose name or content has a word; a null project means all of them. The "C" collation knows the lower case
-- of the letters A to Z and of no others, as SQLite does, whatever the server's own language.
SELECT * FROM skills
WHERE (CAST(:project_id AS BIGINT) IS NULL OR project_id = :project_id)
  AND lower((name || ' ' || coalesce(phases, '') || ' ' || coalesce(modes, '') || ' ' || coalesce(templates, '') || ' '
             || coalesce(cmd_dependencies, '') || ' ' || coalesce(next_skills, '') || ' '
             || coalesce(directives, '')) COLLATE "C")
      LIKE :pattern ESCAPE '!'
ORDER BY name COLLATE "C", project_id;
