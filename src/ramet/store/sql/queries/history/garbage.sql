-- name: heads
-- Where every branch stands.
SELECT c.segment_id, c.seq FROM branches b JOIN commits c ON c.id = b.commit_id;

-- name: moves
-- The places that recent moves remember.
SELECT c.segment_id, c.seq FROM moves m JOIN commits c ON c.id = m.old_commit_id OR c.id = m.new_commit_id
WHERE m.at_ms >= :since_ms;

-- name: spawns
-- The places that spawns remember.
SELECT c.segment_id, c.seq FROM spawn_pointers p JOIN commits c ON c.id = p.parent_commit_id;

-- name: collapses
-- The places that collapses remember, in the parent and in the child.
SELECT c.segment_id, c.seq FROM collapses k JOIN commits c ON c.id = k.commit_id OR c.id = k.child_head_id;

-- name: messages
-- The places that transcripts remember.
SELECT c.segment_id, max(c.seq) FROM messages m JOIN commits c ON c.id = m.commit_id GROUP BY c.segment_id;

-- name: segments
-- Every segment, where it grows from, and how far it goes; the newest first.
SELECT s.id, s.base_segment_id, s.base_seq, coalesce(max(c.seq), 0)
FROM segments s LEFT JOIN commits c ON c.segment_id = s.id
GROUP BY s.id, s.base_segment_id, s.base_seq ORDER BY s.id DESC;

-- name: links
-- The places that the commits of a run point at beside their parents.
SELECT t.segment_id, t.seq FROM commits c JOIN commits t ON t.id = c.target_id OR t.id = c.second_parent_id
WHERE c.segment_id = :segment_id AND c.seq <= :last AND (c.target_id IS NOT NULL OR c.second_parent_id IS NOT NULL);

-- name: forget_moves
-- Let go of moves that are too old to be taken back.
DELETE FROM moves WHERE at_ms < :since_ms;

-- name: delete_commits
-- Delete the end of a segment.
DELETE FROM commits WHERE segment_id = :segment_id AND seq > :last RETURNING id;

-- name: delete_segment
-- Delete a segment that has no commits.
DELETE FROM segments WHERE id = :segment_id;

-- name: delete_blobs
-- Delete contents that no commit carries.
DELETE FROM blobs WHERE id NOT IN (SELECT blob_id FROM commits) RETURNING id;
