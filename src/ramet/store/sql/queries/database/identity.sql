-- name: origin
-- The random name of this database, which its copies share.
SELECT max(name) FROM origins WHERE id = 1;

-- name: last_event
-- The number of the newest event.
SELECT coalesce(max(id), 0) FROM events;
