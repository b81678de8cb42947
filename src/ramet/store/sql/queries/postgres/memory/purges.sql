-- name: empty_events
-- Remove what events say.
UPDATE events SET data = NULL WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:ids AS JSON)));

-- name: carriers
-- Where a page of all commits carries some contents, except in purged parts of the history.
SELECT c.blob_id, c.segment_id, min(c.seq), max(c.seq) FROM commits c
WHERE c.id > :after AND c.id <= :upto
  AND c.blob_id IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:ids AS JSON))) AND NOT EXISTS (
    SELECT 1 FROM purged_spans p WHERE p.segment_id = c.segment_id AND c.seq BETWEEN p.first_seq AND p.last_seq
)
GROUP BY c.blob_id, c.segment_id;
