-- name: empty_events
-- Remove what events say.
UPDATE events SET data = NULL WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:ids AS JSON)));
