-- name: imported
-- What an import wrote down of a row of a source.
SELECT data FROM events WHERE dedupe_key = :dedupe_key;

-- name: project_at
-- The project at a path.
SELECT id FROM projects WHERE path = :path;

-- name: add_project
-- A project with the time at which it was first registered.
INSERT INTO projects (path, name, created_at) VALUES (:path, :name, :created_at)
RETURNING id;

-- name: add_skill
-- A skill, unless the project has one of that name.
INSERT INTO skills (project_id, name, phases, modes, templates, cmd_dependencies, next_skills, directives, updated_at)
VALUES (:project_id, :name, :phases, :modes, :templates, :cmd_dependencies, :next_skills, :directives, :updated_at)
ON CONFLICT (project_id, name) DO NOTHING
RETURNING id;

-- name: add_task
-- A task, unless there is one at that path.
INSERT INTO tasks (dir_path, project_id, workspace, title, description, keywords, created_at)
VALUES (:path, :project_id, :workspace, :title, :description, :keywords, :created_at)
ON CONFLICT (dir_path) DO NOTHING
RETURNING dir_path;

-- name: has_ordinal
-- Whether a task has an effort with this number.
SELECT 1 FROM efforts WHERE task_id = :task_id AND ordinal = :ordinal;

-- name: add_effort
-- A finished effort.
INSERT INTO efforts (task_id, skill, mode, ordinal, lifecycle, current_phase, discovered_directives,
                     discovered_directories, metadata, created_at, finished_at, outcome, reason, prompt, based_on,
                     depends_on, report_file, output_content, git_branch, git_base, git_head, attempts, run_id,
                     run_line, run_order)
VALUES (:task_id, :skill, :mode, :ordinal, 'finished', :phase, :directives, :directories, :metadata, :created_at,
        :finished_at, :outcome, :reason, :prompt, :based_on, :depends_on, :report_file, :output_content, :git_branch,
        :git_base, :git_head, :attempts, :run_id, :run_line, :run_order)
RETURNING id;

-- name: add_dependency
-- What an effort waited for.
INSERT INTO dependencies (effort_id, needs_id) VALUES (:effort_id, :needs_id)
ON CONFLICT DO NOTHING;

-- name: complete_session
-- What is known of a session that has ended.
UPDATE sessions SET ended_at = :ended_at, outcome = :outcome, notes = :notes, title = :title,
                    heartbeat_counter = :heartbeat_counter, last_heartbeat = :last_heartbeat,
                    context_usage = :context_usage, loaded_files = :loaded_files, dehydration_payload = :handoff
WHERE id = :id;

-- name: set_parent
-- A root session, with all below it, is in the tree of a parent that became known later.
UPDATE sessions SET root_session_id = :root, spawn_depth = spawn_depth + :depth,
                    parent_session_id = CASE WHEN id = :id THEN :parent ELSE parent_session_id END
WHERE root_session_id = :id;

-- name: add_phase
-- A phase that an effort entered.
INSERT INTO phase_history (effort_id, phase_label, proof, reason, created_at)
VALUES (:effort_id, :label, :proof, :reason, :created_at)
RETURNING id;

-- name: add_agent
-- An agent, unless there is one of that name.
INSERT INTO agents (id, label, claims) VALUES (:id, :label, :claims)
ON CONFLICT (id) DO NOTHING
RETURNING id;

-- name: add_embedding
-- The vector of a text, unless it is there.
INSERT INTO embeddings (source_type, source_path, chunk_text, content_hash, model, dimension, embedding, updated_at)
VALUES (:source_type, :source_path, :chunk_text, :content_hash, :model, :dimension, :embedding, :updated_at)
ON CONFLICT DO NOTHING
RETURNING id;

-- name: close_run
-- A run that has finished.
UPDATE runs SET finished_at = :finished_at, reason = :reason WHERE id = :id;
