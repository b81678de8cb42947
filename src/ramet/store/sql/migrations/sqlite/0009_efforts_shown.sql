-- Efforts as people see them: with the first effort that a queued one waits for, and how that one stands.
CREATE VIEW efforts_shown AS
SELECT e.*, n.id AS blocked_by, coalesce(n.outcome, n.lifecycle) AS blocked_status
FROM efforts e
LEFT JOIN efforts n ON n.id = (
    SELECT min(d.needs_id) FROM dependencies d JOIN efforts m ON m.id = d.needs_id
    WHERE d.effort_id = e.id AND e.lifecycle = 'queued' AND m.outcome IS DISTINCT FROM 'success'
      AND (d.needs = 'success' OR m.outcome IS NULL)
);
