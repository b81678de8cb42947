-- name: read_content_types
-- Registered kinds of content.
SELECT t.name, t.default_role, t.default_priority, t.compression_priority, t.compiles
FROM content_types t
ORDER BY t.name;

-- name: read_projects
-- A project.
SELECT t.path, t.name, t.created_at, t.remote, t.removed_at
FROM projects t
WHERE t.id = :id
ORDER BY t.id;

-- name: read_skills
-- The skills of a project.
SELECT t.id, p.path AS project, t.name, t.phases, t.modes, t.templates, t.cmd_dependencies, t.next_skills,
       t.directives, t.updated_at
FROM skills t JOIN projects p ON p.id = t.project_id
WHERE t.project_id = :id
ORDER BY t.id;

-- name: read_skill_texts
-- The texts of a project's skills.
SELECT t.skill_id, t.file, t.description, t.instructions, t.template_texts, t.command_texts, t.changes
FROM skill_texts t JOIN skills s ON s.id = t.skill_id
WHERE s.project_id = :id
ORDER BY t.skill_id;

-- name: read_tasks
-- A task.
SELECT t.dir_path, p.path AS project, t.workspace, t.title, t.description, t.keywords, t.created_at
FROM tasks t JOIN projects p ON p.id = t.project_id
WHERE t.dir_path = :id
ORDER BY t.dir_path;

-- name: read_agents
-- An agent.
SELECT t.id, t.label
FROM agents t
WHERE t.id = :id
ORDER BY t.id;

-- name: read_runs
-- A run.
SELECT t.id, p.path AS project, t.task_id, t.name, t.mode, t.content_hash, t.limits, t.stop_on_failure,
       t.save_conversation, t.branch, t.created_at, t.started_at, t.finished_at, t.archived_at, t.reason,
       t.base_commit, t.base_branch, t.base_changes, t.keep_going, t.purged_at
FROM runs t JOIN projects p ON p.id = t.project_id
WHERE t.id = :id
ORDER BY t.id;

-- name: read_efforts
-- An effort.
SELECT t.id, t.task_id, t.skill, t.mode, t.ordinal, t.lifecycle, t.current_phase, t.discovered_directives,
       t.discovered_directories, t.metadata, t.created_at, t.finished_at, t.outcome, t.reason, t.prompt, t.based_on,
       t.driver, t.model, t.priority, t.timeout_seconds, t.report_file, t.output_content, t.git_branch, t.git_base,
       t.git_head, t.attempts, t.retry_of, t.run_id, t.usage, t.failure, t.changes, t.run_line, t.run_order,
       t.run_agent, t.workspace, t.base_commit, t.base_branch, t.base_changes, t.accepts_no_change
FROM efforts t
WHERE t.id = :id
ORDER BY t.id;

-- name: read_dependencies
-- What an effort waits for.
SELECT t.effort_id, t.needs_id, t.needs
FROM dependencies t
WHERE t.effort_id = :id
ORDER BY t.needs_id;

-- name: read_phase_history
-- The phases of an effort.
SELECT t.effort_id, t.phase_label, t.proof, t.reason, t.created_at
FROM phase_history t
WHERE t.effort_id = :id
ORDER BY t.id;

-- name: read_sessions
-- A session. One that is its own root names none.
SELECT t.id, t.task_id, t.effort_id, t.prev_session_id, t.parent_session_id, CASE WHEN t.root_session_id <> t.id THEN
       t.root_session_id END AS root_session_id, t.spawn_depth, t.agent_id, t.driver, t.native_id, t.branch,
       t.heartbeat_counter, t.last_heartbeat, t.context_usage, t.loaded_files, t.dehydration_payload, t.outcome,
       t.notes, t.created_at, t.ended_at, t.exit_status, t.exit_signal, t.report, t.model, t.title,
       t.forked_from_session_id, t.archived_at, t.purged_at
FROM sessions t
WHERE t.id = :id
ORDER BY t.id;

-- name: read_effort_links
-- The sessions that an effort names.
SELECT t.id AS effort_id, t.continues_session_id, t.spawned_by, t.awaited_by
FROM efforts t
WHERE t.id = :id AND (t.continues_session_id IS NOT NULL OR t.spawned_by IS NOT NULL OR t.awaited_by IS NOT NULL)
ORDER BY t.id;

-- name: read_messages
-- The next messages of a session, with their ids.
SELECT t.session_id, t.role, c.hash AS "commit", t.tool_name, t.timestamp, t.source_key, t.is_provisional, t.id AS id
FROM messages t JOIN commits c ON c.id = t.commit_id
WHERE t.session_id = :id AND t.id > :after
ORDER BY t.id LIMIT :limit;

-- name: read_usage
-- What a session used.
SELECT t.session_id, t.key, t.model, t.input_tokens, t.output_tokens, t.cache_read_tokens, t.cache_write_tokens,
       t.cost_usd, t.estimated_usd
FROM usage t
WHERE t.session_id = :id
ORDER BY t.key;

-- name: read_usage_times
-- When a session used it.
SELECT t.session_id, t.at_ms, t.model, t.calls, t.input_tokens, t.output_tokens, t.cache_read_tokens,
       t.cache_write_tokens, t.injected_tokens, t.cost_usd, t.estimated_usd
FROM usage_times t
WHERE t.session_id = :id
ORDER BY t.at_ms, t.model;

-- name: read_budgets
-- The budget of a session.
SELECT t.session_id, CASE WHEN t.root_session_id <> t.session_id THEN t.root_session_id END AS root_session_id,
       t.tokens, t.cost_usd, t.spent_tokens, t.spent_cost_usd, t.settled_at
FROM budgets t
WHERE t.session_id = :id
ORDER BY t.session_id;

-- name: read_refused_calls
-- The refused calls of a session.
SELECT t.session_id, t.subject, t.name, t.key, t.effort_id, t.call, t.rules, t.advice, t.times, t.created_at
FROM refused_calls t
WHERE t.session_id = :id
ORDER BY t.subject, t.name, t.key;

-- name: read_discoveries
-- What a session has come to.
SELECT t.session_id, t.path, t.hash
FROM discoveries t
WHERE t.session_id = :id
ORDER BY t.path;

-- name: read_thoughts
-- The thoughts of a session.
SELECT t.session_id, t.source_key
FROM thoughts t
WHERE t.session_id = :id
ORDER BY t.source_key;

-- name: read_findings
-- What the reviews of a run found.
SELECT t.run_id, t.effort_id, t.round, t.fingerprint, t.severity, t.file, t.line, t.text, t.state
FROM findings t
WHERE t.run_id = :id
ORDER BY t.id;

-- name: read_notices
-- The notices about an effort.
SELECT t.kind, t.text, t.effort_id, t.session_id, t.created_at, t.dismissed_at, t.dedupe_key
FROM notices t
WHERE t.effort_id = :id
ORDER BY t.id;

-- name: read_branches
-- A branch.
SELECT t.name, c.hash AS head, t.created_ms
FROM branches t LEFT JOIN commits c ON c.id = t.commit_id
WHERE t.name = :id
ORDER BY t.id;

-- name: read_moves
-- The moves of a branch.
SELECT t.id, t.branch_name AS branch, o.hash AS old, n.hash AS new, t.why, t.at_ms, t.undoes
FROM moves t LEFT JOIN commits o ON o.id = t.old_commit_id LEFT JOIN commits n ON n.id = t.new_commit_id
WHERE t.branch_name = :id
ORDER BY t.id;

-- name: read_spawn_pointers
-- Whose child a branch is.
SELECT t.id, t.parent_branch, c.hash AS parent_commit, t.child_branch, t.purpose, t.inheritance_mode, t.display_name,
       t.created_at, t.parent_session_id, t.child_session_id
FROM spawn_pointers t LEFT JOIN commits c ON c.id = t.parent_commit_id
WHERE t.child_branch = :id
ORDER BY t.id;

-- name: read_collapses
-- What was taken in of a child branch.
SELECT t.spawn_id, c.hash AS "commit", h.hash AS child_head, t.at_ms
FROM collapses t JOIN commits c ON c.id = t.commit_id LEFT JOIN commits h ON h.id = t.child_head_id
WHERE t.spawn_id = :id
ORDER BY t.id;

-- name: read_tombstones
-- Who removed a text.
SELECT t.subject, t.hash, t.size, t.purged_by, t.purged_at, t.reason
FROM tombstones t
WHERE t.subject = :subject AND t.hash = :hash
ORDER BY t.id;

-- name: read_commits
-- A commit, without its tags.
SELECT t.hash, p.hash AS parent, q.hash AS second_parent, b.hash AS blob, t.content_type, t.role, t.operation, g.hash
       AS target, t.author, t.at_ms, t.created_ms, t.tokens, t.metadata, t.reported_tokens, a.priority
FROM commits t JOIN blobs b ON b.id = t.blob_id LEFT JOIN commits p ON p.id = t.parent_id LEFT JOIN commits q ON q.id
       = t.second_parent_id LEFT JOIN commits g ON g.id = t.target_id LEFT JOIN annotations a ON a.commit_id = t.id
WHERE t.id = :id
ORDER BY t.id;

-- name: read_blob
-- A content.
SELECT hash, codec, size, data FROM blobs WHERE id = :id;

-- name: read_tags
-- The tags of a commit.
SELECT tag FROM tags WHERE commit_id = :id ORDER BY tag;

-- name: origin
-- The name of this database.
SELECT name FROM origins WHERE id = 1;

-- name: identities
-- The rows of other databases that a row came from.
SELECT origin, foreign_key FROM archived_keys WHERE subject = :subject AND local_key = :local_key ORDER BY origin, foreign_key;

-- name: all_projects
-- Every project.
SELECT id FROM projects ORDER BY id;

-- name: all_branches
-- Every branch.
SELECT name FROM branches ORDER BY id;

-- name: tasks_of_project
-- The tasks of a project.
SELECT dir_path FROM tasks WHERE project_id = :id ORDER BY created_at, dir_path;

-- name: efforts_of_task
-- The efforts of a task.
SELECT id FROM efforts WHERE task_id = :id ORDER BY id;

-- name: efforts_of_run
-- The lines of a run.
SELECT id FROM efforts WHERE run_id = :id ORDER BY id;

-- name: runs_of_project
-- The runs of a project.
SELECT id FROM runs WHERE project_id = :id ORDER BY id;

-- name: sessions_of_effort
-- The sessions of an effort.
SELECT id FROM sessions WHERE effort_id = :id ORDER BY id;

-- name: sessions_below
-- The sessions that a session spawned.
SELECT id FROM sessions WHERE parent_session_id = :id ORDER BY id;

-- name: efforts_spawned
-- The efforts that a session spawned.
SELECT id FROM efforts WHERE spawned_by = :id ORDER BY id;

-- name: place_of_session
-- The effort, the task, the project, the agent and the branch of a session.
SELECT s.effort_id, s.task_id, t.project_id, s.agent_id, s.branch
FROM sessions s JOIN tasks t ON t.dir_path = s.task_id WHERE s.id = :id;

-- name: place_of_effort
-- The task, the project and the run of an effort.
SELECT e.task_id, t.project_id, e.run_id FROM efforts e JOIN tasks t ON t.dir_path = e.task_id WHERE e.id = :id;

-- name: place_of_run
-- The task, the project and the branch of a run.
SELECT task_id, project_id, branch FROM runs WHERE id = :id;

-- name: children_of_branch
-- The branches that were spawned from a branch.
SELECT child_branch FROM spawn_pointers WHERE parent_branch = :id ORDER BY id;

-- name: commits_after
-- The next commits of all, and their contents.
SELECT id, blob_id FROM commits WHERE id > :after ORDER BY id LIMIT :limit;

-- name: commits_in_span
-- The next commits of a part of a segment, and their contents.
SELECT id, blob_id, seq FROM commits WHERE segment_id = :segment_id AND seq BETWEEN :first AND :last
ORDER BY seq LIMIT :limit;

-- name: links_in_span
-- The places that the commits of a part of a segment point at beside their parents.
SELECT t.segment_id, t.seq FROM commits c JOIN commits t ON t.id = c.target_id OR t.id = c.second_parent_id
WHERE c.segment_id = :segment_id AND c.seq BETWEEN :first AND :last
  AND (c.target_id IS NOT NULL OR c.second_parent_id IS NOT NULL);

-- name: moved_places
-- The places that the moves of a branch remember.
SELECT c.segment_id, c.seq FROM moves m JOIN commits c ON c.id = m.old_commit_id OR c.id = m.new_commit_id
WHERE m.branch_name = :id;

-- name: spoken_places
-- The places that a session's transcript remembers.
SELECT c.segment_id, max(c.seq) FROM messages m JOIN commits c ON c.id = m.commit_id
WHERE m.session_id = :id GROUP BY c.segment_id;

-- name: free_tombstones
-- Who removed texts, of all that is left of them.
SELECT subject, hash, size, purged_by, purged_at, reason FROM tombstones ORDER BY id;

-- name: facts
-- A session, its effort and its project.
SELECT s.id, s.effort_id, s.task_id, p.path, e.skill, s.driver, s.native_id, s.model, s.title, e.prompt, s.created_at,
       s.ended_at, s.outcome, s.spawn_depth, s.purged_at
FROM sessions s
JOIN efforts e ON e.id = s.effort_id
JOIN tasks t ON t.dir_path = s.task_id
JOIN projects p ON p.id = t.project_id
WHERE s.id = :id;

-- name: spent
-- What a session used.
SELECT count(*), CAST(coalesce(sum(input_tokens), 0) AS BIGINT), CAST(coalesce(sum(output_tokens), 0) AS BIGINT),
       CAST(coalesce(sum(cache_read_tokens), 0) AS BIGINT), CAST(coalesce(sum(cache_write_tokens), 0) AS BIGINT),
       sum(coalesce(cost_usd, estimated_usd)),
       coalesce(max(CASE WHEN cost_usd IS NULL AND estimated_usd IS NOT NULL THEN 1 ELSE 0 END), 0)
FROM usage WHERE session_id = :id;

-- name: turns
-- The next messages of a session, each with the thought before it.
SELECT m.id, m.role, m.tool_name, m.timestamp, c.metadata, b.codec, b.size, b.data, r.codec, r.size, r.data
FROM messages m
JOIN commits c ON c.id = m.commit_id
JOIN blobs b ON b.id = c.blob_id
LEFT JOIN commits p ON p.id = c.parent_id AND p.content_type = 'reasoning'
LEFT JOIN blobs r ON r.id = p.blob_id
WHERE m.session_id = :id AND m.id > :after
ORDER BY m.id LIMIT :limit;

-- name: now
-- The time.
SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now');
