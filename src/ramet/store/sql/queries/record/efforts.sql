-- name: next_ordinal
-- The ordinal of the next effort of a task.
SELECT coalesce(max(ordinal), 0) + 1 FROM efforts WHERE task_id = :task_id;

-- name: insert
-- Start an effort.
INSERT INTO efforts (task_id, skill, mode, ordinal, lifecycle, metadata, created_at)
VALUES (:task_id, :skill, :mode, :ordinal, 'active', :metadata, :now)
RETURNING *;

-- name: by_id
-- An effort.
SELECT * FROM efforts WHERE id = :id;

-- name: of_task
-- A task's efforts in order, behind one.
SELECT * FROM efforts WHERE task_id = :task_id AND ordinal > :after ORDER BY ordinal LIMIT :limit;

-- name: finished_before
-- The last ones of a task that came before one and are finished.
SELECT * FROM efforts WHERE task_id = :task_id AND ordinal < :ordinal AND lifecycle = 'finished'
ORDER BY ordinal DESC LIMIT :limit;

-- name: finish
-- Finish an effort.
UPDATE efforts SET lifecycle = 'finished', finished_at = :now, outcome = :outcome, awaited_by = NULL WHERE id = :id
RETURNING *;

-- name: reopen
-- A finished effort is active again.
UPDATE efforts SET lifecycle = 'active', finished_at = NULL, outcome = NULL WHERE id = :id
RETURNING *;

-- name: set_phase
-- Move an effort to a phase.
UPDATE efforts SET current_phase = :label WHERE id = :id
RETURNING *;

-- name: record_phase
-- Write a phase into the effort's history.
INSERT INTO phase_history (effort_id, phase_label, proof, reason, created_at)
VALUES (:effort_id, :label, :proof, :reason, :now)
RETURNING *;

-- name: phases
-- The phases that an effort went through.
SELECT * FROM phase_history WHERE effort_id = :effort_id ORDER BY id;

-- name: project_of
-- The project of an effort's task.
SELECT t.project_id FROM efforts e JOIN tasks t ON t.dir_path = e.task_id WHERE e.id = :id;

-- name: open_sessions
-- How many sessions still serve an effort.
SELECT count(*) FROM sessions WHERE effort_id = :effort_id AND ended_at IS NULL;
