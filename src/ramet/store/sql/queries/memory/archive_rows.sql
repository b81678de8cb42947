-- name: add_content_types
-- A kind of content, unless it is known.
INSERT INTO content_types (name, default_role, default_priority, compression_priority, compiles)
VALUES (:name, :default_role, :default_priority, :compression_priority, :compiles)
ON CONFLICT DO NOTHING
RETURNING 1;

-- name: add_agents
-- An agent, unless it is known.
INSERT INTO agents (id, label)
VALUES (:id, :label)
ON CONFLICT DO NOTHING
RETURNING 1;

-- name: add_tombstones
-- Who removed a text.
INSERT INTO tombstones (subject, hash, size, purged_by, purged_at, reason)
VALUES (:subject, :hash, :size, :purged_by, :purged_at, :reason)
ON CONFLICT DO NOTHING
RETURNING 1;

-- name: add_dependencies
-- What an effort waits for.
INSERT INTO dependencies (effort_id, needs_id, needs)
VALUES (:effort_id, :needs_id, :needs)
ON CONFLICT DO NOTHING
RETURNING 1;

-- name: add_usage
-- What a session used.
INSERT INTO usage (session_id, key, model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
       cost_usd, estimated_usd)
VALUES (:session_id, :key, :model, :input_tokens, :output_tokens, :cache_read_tokens, :cache_write_tokens, :cost_usd,
       :estimated_usd)
ON CONFLICT DO NOTHING
RETURNING 1;

-- name: add_usage_times
-- When a session used it.
INSERT INTO usage_times (session_id, at_ms, model, calls, input_tokens, output_tokens, cache_read_tokens,
       cache_write_tokens, injected_tokens, cost_usd, estimated_usd)
VALUES (:session_id, :at_ms, :model, :calls, :input_tokens, :output_tokens, :cache_read_tokens, :cache_write_tokens,
       :injected_tokens, :cost_usd, :estimated_usd)
ON CONFLICT DO NOTHING
RETURNING 1;

-- name: add_budgets
-- The budget of a session.
INSERT INTO budgets (session_id, root_session_id, tokens, cost_usd, spent_tokens, spent_cost_usd, settled_at)
VALUES (:session_id, :root_session_id, :tokens, :cost_usd, :spent_tokens, :spent_cost_usd, :settled_at)
ON CONFLICT DO NOTHING
RETURNING 1;

-- name: add_refused_calls
-- A refused call.
INSERT INTO refused_calls (session_id, subject, name, key, effort_id, call, rules, advice, times, created_at)
VALUES (:session_id, :subject, :name, :key, :effort_id, :call, :rules, :advice, :times, :created_at)
ON CONFLICT DO NOTHING
RETURNING 1;

-- name: add_discoveries
-- What a session has come to.
INSERT INTO discoveries (session_id, path, hash)
VALUES (:session_id, :path, :hash)
ON CONFLICT DO NOTHING
RETURNING 1;

-- name: add_thoughts
-- A thought of a session.
INSERT INTO thoughts (session_id, source_key)
VALUES (:session_id, :source_key)
ON CONFLICT DO NOTHING
RETURNING 1;

-- name: add_findings
-- What a review found.
INSERT INTO findings (run_id, effort_id, round, fingerprint, severity, file, line, text, state)
VALUES (:run_id, :effort_id, :round, :fingerprint, :severity, :file, :line, :text, :state)
ON CONFLICT DO NOTHING
RETURNING 1;

-- name: add_skill_texts
-- The text of a skill.
INSERT INTO skill_texts (skill_id, file, description, instructions, template_texts, command_texts, changes)
VALUES (:skill_id, :file, :description, :instructions, :template_texts, :command_texts, :changes)
ON CONFLICT DO NOTHING
RETURNING 1;

-- name: add_projects
-- A project.
INSERT INTO projects (path, name, created_at, remote, removed_at)
VALUES (:path, :name, :created_at, :remote, :removed_at)
RETURNING id;

-- name: add_skills
-- A skill, unless its project has one of its name.
INSERT INTO skills (project_id, name, phases, modes, templates, cmd_dependencies, next_skills, directives, updated_at)
VALUES (:project, :name, :phases, :modes, :templates, :cmd_dependencies, :next_skills, :directives, :updated_at)
ON CONFLICT (project_id, name) DO NOTHING
RETURNING id;

-- name: add_tasks
-- A task, unless it is known.
INSERT INTO tasks (dir_path, project_id, workspace, title, description, keywords, created_at)
VALUES (:dir_path, :project, :workspace, :title, :description, :keywords, :created_at)
ON CONFLICT (dir_path) DO NOTHING
RETURNING 1;

-- name: add_runs
-- A run.
INSERT INTO runs (project_id, task_id, name, mode, content_hash, limits, stop_on_failure, save_conversation, branch,
       created_at, started_at, finished_at, archived_at, reason, base_commit, base_branch, base_changes, keep_going,
       purged_at)
VALUES (:project, :task_id, :name, :mode, :content_hash, :limits, :stop_on_failure, :save_conversation, :branch,
       :created_at, :started_at, :finished_at, :archived_at, :reason, :base_commit, :base_branch, :base_changes,
       :keep_going, :purged_at)
RETURNING id;

-- name: add_efforts
-- An effort.
INSERT INTO efforts (task_id, skill, mode, ordinal, lifecycle, current_phase, discovered_directives,
       discovered_directories, metadata, created_at, finished_at, outcome, reason, prompt, based_on, driver, model,
       priority, timeout_seconds, report_file, output_content, git_branch, git_base, git_head, attempts, retry_of,
       run_id, usage, failure, changes, run_line, run_order, run_agent, workspace, base_commit, base_branch,
       base_changes, accepts_no_change)
VALUES (:task_id, :skill, :mode, :ordinal, :lifecycle, :current_phase, :discovered_directives,
       :discovered_directories, :metadata, :created_at, :finished_at, :outcome, :reason, :prompt, :based_on, :driver,
       :model, :priority, :timeout_seconds, :report_file, :output_content, :git_branch, :git_base, :git_head,
       :attempts, :retry_of, :run_id, :usage, :failure, :changes, :run_line, :run_order, :run_agent, :workspace,
       :base_commit, :base_branch, :base_changes, :accepts_no_change)
RETURNING id;

-- name: add_sessions
-- A session.
INSERT INTO sessions (id, task_id, effort_id, prev_session_id, parent_session_id, root_session_id, spawn_depth,
       agent_id, driver, native_id, branch, heartbeat_counter, last_heartbeat, context_usage, loaded_files,
       dehydration_payload, outcome, notes, created_at, ended_at, exit_status, exit_signal, report, model, title,
       forked_from_session_id, archived_at, purged_at)
VALUES (:id, :task_id, :effort_id, :prev_session_id, :parent_session_id, :root_session_id, :spawn_depth, :agent_id,
       :driver, :native_id, :branch, :heartbeat_counter, :last_heartbeat, :context_usage, :loaded_files,
       :dehydration_payload, :outcome, :notes, :created_at, :ended_at, :exit_status, :exit_signal, :report, :model,
       :title, :forked_from_session_id, :archived_at, :purged_at)
RETURNING id;

-- name: add_moves
-- A move of a branch.
INSERT INTO moves (branch_name, old_commit_id, new_commit_id, why, at_ms, undoes)
VALUES (:branch, :old, :new, :why, :at_ms, :undoes)
RETURNING id;

-- name: add_notices
-- A notice.
INSERT INTO notices (kind, text, effort_id, session_id, created_at, dismissed_at, dedupe_key)
VALUES (:kind, :text, :effort_id, :session_id, :created_at, :dismissed_at, :dedupe_key)
ON CONFLICT DO NOTHING
RETURNING 1;

-- name: add_spawn_pointers
-- Whose child a branch is.
INSERT INTO spawn_pointers (parent_branch, parent_commit_id, child_branch, purpose, inheritance_mode, display_name,
       created_at, parent_session_id, child_session_id)
VALUES (:parent_branch, :parent_commit, :child_branch, :purpose, :inheritance_mode, :display_name, :created_at,
       :parent_session_id, :child_session_id)
ON CONFLICT (child_branch) DO NOTHING
RETURNING id;

-- name: add_collapses
-- What was taken in of a child branch.
INSERT INTO collapses (spawn_id, commit_id, child_head_id, at_ms)
VALUES (:spawn_id, :commit, :child_head, :at_ms)
ON CONFLICT DO NOTHING
RETURNING 1;

-- name: add_phase_history
-- A phase of an effort, unless it is there.
INSERT INTO phase_history (effort_id, phase_label, proof, reason, created_at)
SELECT CAST(:effort_id AS BIGINT), CAST(:phase_label AS TEXT), CAST(:proof AS TEXT), CAST(:reason AS TEXT),
       CAST(:created_at AS TEXT)
WHERE NOT EXISTS (
    SELECT 1 FROM phase_history
    WHERE effort_id = :effort_id AND phase_label = :phase_label AND created_at = :created_at
)
RETURNING 1;

-- name: add_messages
-- A message, unless it is there.
INSERT INTO messages (session_id, role, commit_id, tool_name, timestamp, source_key, is_provisional)
SELECT CAST(:session_id AS BIGINT), CAST(:role AS TEXT), CAST(:commit AS BIGINT), CAST(:tool_name AS TEXT),
       CAST(:timestamp AS BIGINT), CAST(:source_key AS TEXT), CAST(:is_provisional AS INTEGER)
WHERE NOT EXISTS (
    SELECT 1 FROM messages WHERE session_id = :session_id AND timestamp = :timestamp AND commit_id = :commit
)
ON CONFLICT DO NOTHING
RETURNING 1;

-- name: link_effort
-- The sessions that an effort names.
UPDATE efforts SET continues_session_id = :continues_session_id, spawned_by = :spawned_by, awaited_by = :awaited_by
WHERE id = :effort_id AND continues_session_id IS NULL AND spawned_by IS NULL AND awaited_by IS NULL
RETURNING 1;

-- name: name_dependencies
-- What an effort says that it waits for.
UPDATE efforts SET depends_on = (SELECT json_group_array(needs_id) FROM dependencies WHERE effort_id = efforts.id)
WHERE id = :effort_id;

-- name: find_key
-- The row that a row of another database has become.
SELECT local_key FROM archived_keys WHERE origin = :origin AND subject = :subject AND foreign_key = :foreign_key;

-- name: keep_key
-- Remember the row that a row of another database has become.
INSERT INTO archived_keys (origin, subject, foreign_key, local_key)
VALUES (:origin, :subject, :foreign_key, :local_key)
ON CONFLICT DO NOTHING
RETURNING 1;

-- name: find_project
-- A project by its remote, or by its path.
SELECT id, path FROM projects WHERE remote = :remote OR path = :path
ORDER BY CASE WHEN remote = :remote THEN 0 ELSE 1 END LIMIT 1;

-- name: has_row
-- Whether a session, an effort or a run of this database is the same as one in an archive.
SELECT 1 FROM sessions WHERE :subject = 'sessions' AND id = :id AND created_at = :created_at
UNION ALL SELECT 1 FROM efforts WHERE :subject = 'efforts' AND id = :id AND created_at = :created_at
UNION ALL SELECT 1 FROM runs WHERE :subject = 'runs' AND id = :id AND created_at = :created_at;

-- name: has_move
-- A move that is there already.
SELECT id FROM moves
WHERE branch_name = :branch AND at_ms = :at_ms AND old_commit_id IS NOT DISTINCT FROM CAST(:old AS BIGINT)
  AND new_commit_id IS NOT DISTINCT FROM CAST(:new AS BIGINT) LIMIT 1;

-- name: skill_named
-- A project's skill.
SELECT id FROM skills WHERE project_id = :project_id AND name = :name;

-- name: find_blob
-- A content.
SELECT id FROM blobs WHERE hash = :hash;

-- name: has_tombstone
-- Whether a text was removed.
SELECT 1 FROM tombstones WHERE subject = :subject AND hash = :hash;

-- name: spawned
-- Whose child a branch is already.
SELECT id FROM spawn_pointers WHERE child_branch = :child_branch;
