-- name: upsert
-- Register a skill, or replace the parts that are given.
INSERT INTO skills (project_id, name, phases, modes, templates, cmd_dependencies, next_skills, directives, updated_at)
VALUES (:project_id, :name, :phases, :modes, :templates, :cmd_dependencies, :next_skills, :directives, :now)
ON CONFLICT (project_id, name) DO UPDATE SET
    phases = coalesce(excluded.phases, skills.phases),
    modes = coalesce(excluded.modes, skills.modes),
    templates = coalesce(excluded.templates, skills.templates),
    cmd_dependencies = coalesce(excluded.cmd_dependencies, skills.cmd_dependencies),
    next_skills = coalesce(excluded.next_skills, skills.next_skills),
    directives = coalesce(excluded.directives, skills.directives),
    updated_at = excluded.updated_at
RETURNING *;

-- name: by_name
-- A project's skill.
SELECT * FROM skills WHERE project_id = :project_id AND name = :name;

-- name: of_project
-- A project's skills by name.
SELECT * FROM skills WHERE project_id = :project_id ORDER BY name;

-- name: delete
-- Forget a skill.
DELETE FROM skills WHERE project_id = :project_id AND name = :name
RETURNING id;

-- name: matching
-- Skills whose name or content has a word; a null project means all of them.
SELECT * FROM skills
WHERE (CAST(:project_id AS BIGINT) IS NULL OR project_id = :project_id)
  AND lower(name || ' ' || coalesce(phases, '') || ' ' || coalesce(modes, '') || ' ' || coalesce(templates, '') || ' '
            || coalesce(cmd_dependencies, '') || ' ' || coalesce(next_skills, '') || ' ' || coalesce(directives, ''))
      LIKE :pattern ESCAPE '!'
ORDER BY name, project_id;

-- name: put_text
-- Keep the text of a skill's file.
INSERT INTO skill_texts (skill_id, file, description, instructions, template_texts, command_texts, changes)
VALUES (:skill_id, :file, :description, :instructions, :template_texts, :command_texts, :changes)
ON CONFLICT (skill_id) DO UPDATE SET
    file = excluded.file,
    description = excluded.description,
    instructions = excluded.instructions,
    template_texts = excluded.template_texts,
    command_texts = excluded.command_texts,
    changes = excluded.changes;

-- name: text_of
-- The text of a skill's file.
SELECT file, description, instructions, template_texts, command_texts, changes FROM skill_texts WHERE skill_id = :skill_id;
