-- name: everything
-- All agents by id, in the order that SQLite has too, whatever the server's own language.
SELECT a.id, a.label, a.claims, a.effort_id, e.skill, e.current_phase, e.task_id
FROM agents a LEFT JOIN efforts e ON e.id = a.effort_id ORDER BY a.id COLLATE "C";

-- name: fleet
-- Who is doing what, in the same order.
SELECT * FROM fleet_status ORDER BY agent COLLATE "C";
