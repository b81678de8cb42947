-- name: name_dependencies
-- What an effort says that it waits for.
UPDATE efforts SET depends_on = (SELECT json_agg(needs_id)::text FROM dependencies WHERE effort_id = efforts.id)
WHERE id = :effort_id;
