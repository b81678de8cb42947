-- name: hold_branches
-- Let nobody move a branch until this transaction ends. Here nobody else writes.
SELECT 1;

-- name: is_there
-- Whether the commit is still there that was the newest to be kept.
SELECT 1 FROM commits WHERE id = :id AND hash = :hash;

-- name: count_newer
-- How many commits are newer than one, up to a limit.
SELECT count(*) FROM (SELECT 1 FROM commits WHERE id > :after LIMIT :limit) newer;

-- name: pointed_at
-- Whether anything points at some commits that did not when they were found, except themselves.
WITH gone (id) AS (SELECT value FROM json_each(:ids))
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
DELETE FROM moves WHERE id IN (SELECT value FROM json_each(:ids)) AND at_ms < :since_ms;

-- name: delete_commits
-- Delete commits, and say where each was.
DELETE FROM commits WHERE id IN (SELECT value FROM json_each(:ids)) RETURNING segment_id, seq;

-- name: cut_purged
-- The part of purged spans that is left of a segment which ends at a place.
INSERT INTO purged_spans (segment_id, first_seq, last_seq)
SELECT p.segment_id, p.first_seq, CAST(:last AS BIGINT) FROM purged_spans p
WHERE p.segment_id = :segment_id AND p.first_seq <= :last AND p.last_seq > :last
ON CONFLICT DO NOTHING;

-- name: forget_purged
-- Forget purged spans that go beyond the end of their segment: its next commits are others.
DELETE FROM purged_spans WHERE segment_id = :segment_id AND last_seq > :last;

-- name: delete_segment
-- Delete a segment that has no commits and that no other grows out of.
DELETE FROM segments WHERE id = :id AND NOT EXISTS (SELECT 1 FROM commits c WHERE c.segment_id = :id)
    AND NOT EXISTS (SELECT 1 FROM segments s WHERE s.base_segment_id = :id)
RETURNING id;

-- name: blob_sizes
-- How large contents are.
SELECT id, length(data) FROM blobs WHERE id IN (SELECT value FROM json_each(:ids));

-- name: delete_blobs
-- Delete contents that no new commit carries.
DELETE FROM blobs WHERE id IN (SELECT value FROM json_each(:ids))
    AND NOT EXISTS (SELECT 1 FROM commits c WHERE c.id > :after AND c.blob_id = blobs.id)
RETURNING id;

-- name: new_names
-- The metadata of new commits that name images.
SELECT metadata FROM commits WHERE id > :after AND metadata LIKE '%"images":[%';
