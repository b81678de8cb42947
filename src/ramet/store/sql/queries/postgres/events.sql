-- name: insert
-- Write down what happened; and where that may be work for somebody, let every daemon hear of it at the commit. The
-- server tells it once for each transaction. Not of everything: commits that tell something take turns.
WITH written AS (
    INSERT INTO events (kind, at_ms, project_id, task_id, effort_id, session_id, agent_id, dedupe_key, data)
    VALUES (:kind, :now_ms, :project_id, :task_id, :effort_id, :session_id, :agent_id, :dedupe_key, :data)
    RETURNING kind
)
SELECT pg_notify('ramet_work', current_schema()) FROM written
WHERE kind IN ('effort.queued', 'effort.requeued', 'effort.finished', 'run.attended', 'project.changed');

-- name: after
-- Events behind one, in the order in which readers may see them: none of a transaction while an older is still open,
-- because ids are given out before they are committed.
SELECT id, kind, at_ms, project_id, task_id, effort_id, session_id, agent_id, dedupe_key, data
FROM events
WHERE xid < pg_snapshot_xmin(pg_current_snapshot())
  AND (xid, id) > (coalesce((SELECT a.xid FROM events a WHERE a.id <= :after ORDER BY a.id DESC LIMIT 1), '0'::xid8),
                   CAST(:after AS BIGINT))
  AND (CAST(:kind AS TEXT) IS NULL OR kind = :kind)
ORDER BY xid, id LIMIT :limit;

-- name: newest
-- The newest events that a reader may have seen, the last one first.
SELECT id, kind, at_ms, project_id, task_id, effort_id, session_id, agent_id, dedupe_key, data
FROM events
WHERE xid < pg_snapshot_xmin(pg_current_snapshot()) AND (CAST(:kind AS TEXT) IS NULL OR kind = :kind)
ORDER BY xid DESC, id DESC LIMIT :limit;

-- name: last
-- The newest event that a reader may have seen.
SELECT coalesce((SELECT id FROM events WHERE xid < pg_snapshot_xmin(pg_current_snapshot())
                 ORDER BY xid DESC, id DESC LIMIT 1), 0);
