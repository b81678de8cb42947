-- What an effort waits for, looked up once for each effort that is shown. A database whose statistics are older than its
-- rows believes the table to be almost empty, and compared each effort with each other one: minutes for 2,000 lines.
DROP VIEW efforts_shown;

CREATE VIEW efforts_shown AS
SELECT e.*,
       (SELECT min(d.needs_id) FROM dependencies d
        WHERE d.effort_id = e.id AND e.lifecycle = 'queued' AND EXISTS (
            SELECT 1 FROM efforts m
            WHERE m.id = d.needs_id AND m.outcome IS DISTINCT FROM 'success' AND (d.needs = 'success' OR m.outcome IS NULL)
        )) AS blocked_by,
       (SELECT coalesce(m.outcome, m.lifecycle) FROM dependencies d JOIN efforts m ON m.id = d.needs_id
        WHERE d.effort_id = e.id AND e.lifecycle = 'queued' AND m.outcome IS DISTINCT FROM 'success'
          AND (d.needs = 'success' OR m.outcome IS NULL)
        ORDER BY d.needs_id LIMIT 1) AS blocked_status
FROM efforts e;
