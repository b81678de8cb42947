-- name: awaited
-- What the sessions of an effort wait for. Nobody takes it until this transaction ends.
SELECT e.* FROM sessions s JOIN efforts e ON e.awaited_by = s.id WHERE s.effort_id = :effort_id ORDER BY e.id
FOR UPDATE OF e;
