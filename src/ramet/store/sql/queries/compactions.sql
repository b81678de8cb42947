-- name: before
-- The commits of a run that held a context whole before a compaction, the newest first.
SELECT t.tag, c.id, c.hash, c.token_sum, coalesce(c.at_ms, c.created_ms)
FROM tags t JOIN commits c ON c.id = t.commit_id
WHERE t.tag LIKE 'pre-compact/%' AND c.segment_id = :segment_id AND c.seq >= :first AND c.seq <= :last
ORDER BY c.seq DESC;

-- name: done
-- The marks of the compactions in a run of commits that are over.
SELECT t.tag FROM tags t JOIN commits c ON c.id = t.commit_id
WHERE t.tag LIKE 'compaction/%' AND c.segment_id = :segment_id AND c.seq >= :first AND c.seq <= :last;

-- name: mark
-- Put a mark on a commit.
INSERT INTO tags (commit_id, tag) VALUES (:commit_id, :tag) ON CONFLICT DO NOTHING;

-- name: unmark
-- Take a mark from a commit.
DELETE FROM tags WHERE commit_id = :commit_id AND tag = :tag;
