-- name: next_ready
-- The effort that is the next to be claimed; nulls mean any skill, driver, project and host, and no run.
SELECT e.* FROM efforts e
WHERE e.lifecycle = 'queued' AND coalesce(e.run_id, 0) = coalesce(CAST(:run_id AS BIGINT), 0) AND e.awaited_by IS NULL
  AND (e.not_before IS NULL OR e.not_before <= :now OR e.avoid_host <> CAST(:host AS TEXT))
  AND NOT EXISTS (
      SELECT 1 FROM dependencies d JOIN efforts n ON n.id = d.needs_id
      WHERE d.effort_id = e.id AND n.outcome IS DISTINCT FROM 'success'
        AND (d.needs = 'success' OR n.outcome IS NULL)
        AND (n.outcome IS DISTINCT FROM 'no_change' OR e.accepts_no_change + n.accepts_no_change = 0)
  )
  AND (CAST(:skills AS TEXT) IS NULL OR e.skill IN (SELECT json_array_elements_text(CAST(:skills AS JSON))))
  AND (CAST(:drivers AS TEXT) IS NULL OR e.driver IS NULL OR e.driver IN (SELECT json_array_elements_text(CAST(:drivers AS JSON))))
  AND (CAST(:project_id AS BIGINT) IS NULL OR :project_id = (SELECT t.project_id FROM tasks t WHERE t.dir_path = e.task_id))
  AND (CAST(:held AS TEXT) IS NULL OR (SELECT t.project_id FROM tasks t WHERE t.dir_path = e.task_id) NOT IN (
      SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:held AS JSON)) AS value))
  AND (CAST(:host AS TEXT) IS NULL OR EXISTS (
      SELECT 1 FROM tasks t JOIN project_paths p ON p.project_id = t.project_id
      WHERE t.dir_path = e.task_id AND p.host = :host
  ) OR NOT EXISTS (
      SELECT 1 FROM tasks t JOIN project_paths p ON p.project_id = t.project_id WHERE t.dir_path = e.task_id
  ))
ORDER BY e.priority DESC, e.id LIMIT 1;
