-- name: next_id
-- The id of the next session, needed before its row because its branch carries the id in its name.
SELECT nextval(pg_get_serial_sequence('sessions', 'id'));

-- name: reporter
-- All that a report needs to know, in one look. Others who write to its branch wait until this transaction ends. One that
-- had to wait itself sees where the branch now points, and not yet the commit that is there.
SELECT s.id, s.agent_id, s.instance, s.generation, s.reported_seq, s.tools_in_flight, s.ended_at IS NOT NULL,
       e.id, e.task_id, e.lease_owner IS NOT NULL, e.lease_generation, e.stop_request,
       EXISTS (SELECT 1 FROM sessions o WHERE o.parent_session_id = s.id AND o.ended_at IS NULL)
       OR EXISTS (SELECT 1 FROM efforts a WHERE a.awaited_by = s.id),
       b.commit_id IS NOT NULL AND c.id IS NULL,
       b.id, c.segment_id, coalesce(c.seq, 0), c.id, c.hash, coalesce(c.token_sum, 0)
FROM sessions s
JOIN efforts e ON e.id = s.effort_id
JOIN branches b ON b.name = s.branch
LEFT JOIN commits c ON c.id = b.commit_id
WHERE s.id = :session_id
FOR UPDATE OF s, b;
