-- name: next_ready
-- The effort that is the next to be claimed; nulls mean any skill, driver and project.
SELECT e.* FROM efforts e
WHERE e.lifecycle = 'queued' AND (e.not_before IS NULL OR e.not_before <= :now)
  AND NOT EXISTS (
      SELECT 1 FROM dependencies d JOIN efforts n ON n.id = d.needs_id
      WHERE d.effort_id = e.id AND n.outcome IS DISTINCT FROM 'success'
  )
  AND (CAST(:skills AS TEXT) IS NULL OR e.skill IN (SELECT json_array_elements_text(CAST(:skills AS JSON))))
  AND (CAST(:drivers AS TEXT) IS NULL OR e.driver IS NULL OR e.driver IN (SELECT json_array_elements_text(CAST(:drivers AS JSON))))
  AND (CAST(:project_id AS BIGINT) IS NULL OR :project_id = (SELECT t.project_id FROM tasks t WHERE t.dir_path = e.task_id))
ORDER BY e.priority DESC, e.id LIMIT 1;
