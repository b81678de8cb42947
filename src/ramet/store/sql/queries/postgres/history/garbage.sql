-- name: hold_branches
-- Let nobody move a branch until this transaction ends: others wait for the milliseconds that a step takes.
LOCK TABLE branches IN EXCLUSIVE MODE;

-- name: pointed_at
-- Whether anything points at some commits that did not when they were found, except themselves.
WITH gone (id) AS (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:ids AS JSON)) AS value)
SELECT 1 FROM branches WHERE commit_id IN (SELECT id FROM gone)
UNION ALL
SELECT 1 FROM moves WHERE id > :move
   AND (old_commit_id IN (SELECT id FROM gone) OR new_commit_id IN (SELECT id FROM gone))
UNION ALL
SELECT 1 FROM spawn_pointers WHERE parent_commit_id IN (SELECT id FROM gone)
UNION ALL
SELECT 1 FROM collapses WHERE commit_id IN (SELECT id FROM gone)
UNION ALL
SELECT 1 FROM collapses WHERE child_head_id IN (SELECT id FROM gone)
UNION ALL
SELECT 1 FROM messages WHERE id > :message AND commit_id IN (SELECT id FROM gone)
UNION ALL
SELECT 1 FROM commits c WHERE c.id > :after AND c.id NOT IN (SELECT id FROM gone)
   AND (c.parent_id IN (SELECT id FROM gone) OR c.target_id IN (SELECT id FROM gone)
        OR c.second_parent_id IN (SELECT id FROM gone))
LIMIT 1;

-- name: delete_moves
-- Let go of moves that are too old to be taken back.
DELETE FROM moves WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:ids AS JSON)) AS value) AND at_ms < :since_ms;

-- name: delete_commits
-- Delete commits, and say where each was.
DELETE FROM commits WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:ids AS JSON)) AS value) RETURNING segment_id, seq;

-- name: blob_sizes
-- How large contents are.
SELECT id, length(data) FROM blobs WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:ids AS JSON)) AS value);

-- name: delete_blobs
-- Delete contents that no new commit carries.
DELETE FROM blobs WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:ids AS JSON)) AS value)
    AND NOT EXISTS (SELECT 1 FROM commits c WHERE c.id > :after AND c.blob_id = blobs.id)
RETURNING id;
