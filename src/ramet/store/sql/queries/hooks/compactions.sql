-- name: before
-- The commits of a run that held a context whole before a compaction, the newest first.
SELECT t.tag, c.id, c.hash, c.token_sum, coalesce(c.at_ms, c.created_ms)
FROM tags t JOIN commits c ON c.id = t.commit_id
WHERE t.tag LIKE 'pre-compact/%' AND c.segment_id = :segment_id AND c.seq >= :first AND c.seq <= :last
ORDER BY c.seq DESC;

-- name: marked
-- Where one of these marks stands in a run of commits: few commits have the same one, a run may have very many.
SELECT c.id FROM tags t CROSS JOIN commits c
WHERE t.tag = :tag AND c.id = t.commit_id AND c.segment_id = :segment_id AND c.seq >= :first AND c.seq <= :last;

-- name: done
-- The marks of the compactions in a run of commits that are over: they are on boundaries.
SELECT t.tag FROM commits c JOIN tags t ON t.commit_id = c.id
WHERE c.segment_id = :segment_id AND c.seq >= :first AND c.seq <= :last AND c.content_type = 'session'
  AND t.tag LIKE 'compaction/%';

-- name: mark
-- Put a mark on a commit.
INSERT INTO tags (commit_id, tag) VALUES (:commit_id, :tag) ON CONFLICT DO NOTHING;

-- name: unmark
-- Take a mark from a commit.
DELETE FROM tags WHERE commit_id = :commit_id AND tag = :tag;
