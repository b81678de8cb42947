-- name: newest
-- The highest numbers of moves, messages, commits and contents.
SELECT (SELECT coalesce(max(id), 0) FROM moves), (SELECT coalesce(max(id), 0) FROM messages),
       (SELECT coalesce(max(id), 0) FROM commits), (SELECT coalesce(max(id), 0) FROM blobs);

-- name: newest_roots
-- The highest numbers of segments, branches, spawns and collapses.
SELECT (SELECT coalesce(max(id), 0) FROM segments), (SELECT coalesce(max(id), 0) FROM branches),
       (SELECT coalesce(max(id), 0) FROM spawn_pointers), (SELECT coalesce(max(id), 0) FROM collapses);

-- name: segments
-- A page of segments, and where each grows out of another.
SELECT id, base_segment_id, base_seq FROM segments WHERE id > :after AND id <= :upto ORDER BY id;

-- name: links
-- A page of commits that point at others beside their parents: their places, and those that they point at.
SELECT c.segment_id, c.seq, t.segment_id, t.seq
FROM commits c JOIN commits t ON t.id = c.target_id OR t.id = c.second_parent_id
WHERE c.id > :after AND c.id <= :upto AND (c.target_id IS NOT NULL OR c.second_parent_id IS NOT NULL);

-- name: heads
-- Where a page of branches stands.
SELECT c.segment_id, c.seq FROM branches b JOIN commits c ON c.id = b.commit_id WHERE b.id > :after AND b.id <= :upto;

-- name: moves
-- The places that a page of moves remembers, if they are recent.
SELECT c.segment_id, c.seq FROM moves m JOIN commits c ON c.id = m.old_commit_id OR c.id = m.new_commit_id
WHERE m.id > :after AND m.id <= :upto AND m.at_ms >= :since_ms;

-- name: spawns
-- The places that a page of spawns remembers.
SELECT c.segment_id, c.seq FROM spawn_pointers p JOIN commits c ON c.id = p.parent_commit_id
WHERE p.id > :after AND p.id <= :upto;

-- name: collapses
-- The places that a page of collapses remembers, in the parent and in the child.
SELECT c.segment_id, c.seq FROM collapses k JOIN commits c ON c.id = k.commit_id OR c.id = k.child_head_id
WHERE k.id > :after AND k.id <= :upto;

-- name: messages
-- How far a page of messages reaches into each segment.
SELECT c.segment_id, max(c.seq) FROM messages m JOIN commits c ON c.id = m.commit_id
WHERE m.id > :after AND m.id <= :upto GROUP BY c.segment_id;

-- name: old_moves
-- Moves that are too old to be taken back.
SELECT id FROM moves WHERE at_ms < :since_ms ORDER BY id LIMIT :limit;

-- name: newest_kept_move
-- The newest move that can be taken back.
SELECT coalesce(max(id), 0) FROM moves WHERE at_ms >= :since_ms;

-- name: commits
-- A page of commits with their places and contents, the newest first.
SELECT id, segment_id, seq, blob_id FROM commits WHERE id > :after AND id <= :upto ORDER BY id DESC;

-- name: hash_of
-- The hash of a commit.
SELECT hash FROM commits WHERE id = :id;

-- name: blobs
-- A page of contents.
SELECT hash, id FROM blobs WHERE hash > :after ORDER BY hash LIMIT :limit;

-- name: naming
-- A page of the commits that name images.
SELECT segment_id, seq, metadata FROM commits
WHERE id > :after AND id <= :upto AND metadata LIKE '%"images":[%';

-- name: images
-- All images.
SELECT hash FROM images;
