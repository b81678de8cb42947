-- What an effort waits for, looked up once for each effort that is shown. A database whose statistics are older than its
-- rows believes the table to be almost empty, and compared each effort with each other one: minutes for 2,000 lines.
DROP VIEW efforts_shown;

CREATE VIEW efforts_shown AS
SELECT e.*, n.blocked_by, n.blocked_status
FROM efforts e
LEFT JOIN LATERAL (
    SELECT m.id AS blocked_by, coalesce(m.outcome, m.lifecycle) AS blocked_status
    FROM dependencies d JOIN efforts m ON m.id = d.needs_id
    WHERE d.effort_id = e.id AND e.lifecycle = 'queued' AND m.outcome IS DISTINCT FROM 'success'
      AND (d.needs = 'success' OR m.outcome IS NULL)
    ORDER BY m.id LIMIT 1
) n ON true;
