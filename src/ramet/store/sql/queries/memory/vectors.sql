-- name: next_texts
-- The texts that have no vector yet. What tools were given and returned gets none.
SELECT id FROM docs
WHERE id > :after AND kind NOT IN ('command', 'output', 'error', 'edit', 'path')
ORDER BY id LIMIT :limit;

-- name: put
-- The vector of a text that is still there.
INSERT INTO vectors (doc_id, data) SELECT id, :data FROM docs WHERE id = :doc_id
ON CONFLICT (doc_id) DO UPDATE SET data = excluded.data;

-- name: forget_all
-- The vectors of another model.
DELETE FROM vectors;

-- name: page
-- The vectors of texts that pass the filters, a page at a time.
SELECT v.doc_id, v.data
FROM vectors v JOIN docs d ON d.id = v.doc_id
WHERE v.doc_id > :after
  AND (:project_id IS NULL OR d.project_id = :project_id)
  AND (:session_id IS NULL OR d.session_id = :session_id)
  AND (:kind IS NULL OR d.kind = :kind)
  AND (:role IS NULL OR d.role = :role)
  AND (:agent IS NULL OR d.driver = :agent OR d.agent_id = :agent)
  AND (:since_ms IS NULL OR d.time_ms >= :since_ms)
  AND (:sessions IS NULL OR d.session_id IN (SELECT value FROM json_each(:sessions)))
ORDER BY v.doc_id LIMIT :limit;

-- name: ranked
-- Some texts, as a ranking shows them.
SELECT d.id, d.unit_id, d.session_id, d.effort_id, d.project_id, d.kind, d.time_ms, d.is_below, 0.0
FROM json_each(:ids) chosen JOIN docs d ON d.id = chosen.value ORDER BY chosen.key;
