-- name: next_id
-- The id of the next session, needed before its row because its branch carries the id in its name.
SELECT nextval(pg_get_serial_sequence('sessions', 'id'));
