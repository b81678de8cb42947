-- name: by_hash
-- A commit by its whole hash.
SELECT id, hash, segment_id, seq, token_sum FROM commits WHERE hash = :hash;

-- name: by_id
-- A commit by its id.
SELECT id, hash, segment_id, seq, token_sum FROM commits WHERE id = :id;

-- name: by_prefix
-- The commits whose hashes lie in a range, two at most: enough to tell whether a prefix is unique.
SELECT id, hash, segment_id, seq, token_sum FROM commits WHERE hash >= :low AND hash <= :high ORDER BY hash LIMIT 2;

-- name: of_branch
-- The commit that a branch points at.
SELECT c.id, c.hash, c.segment_id, c.seq, c.token_sum
FROM branches b JOIN commits c ON c.id = b.commit_id WHERE b.name = :name;

-- name: at_place
-- The commit at one place of a segment.
SELECT id, hash, segment_id, seq, token_sum FROM commits WHERE segment_id = :segment_id AND seq = :seq;

-- name: newest_until
-- The newest commit of a run that was there at an instant.
SELECT id, hash, segment_id, seq, token_sum FROM commits
WHERE segment_id = :segment_id AND seq >= :first AND seq <= :last AND created_ms <= :until_ms
ORDER BY seq DESC LIMIT 1;

-- name: newest_of_type
-- The newest commit of a kind in a run that is not an edit.
SELECT id, hash, segment_id, seq, token_sum FROM commits
WHERE segment_id = :segment_id AND seq >= :first AND seq <= :last AND content_type = :content_type
  AND target_id IS NULL
ORDER BY seq DESC LIMIT 1;

-- name: newest_edit
-- The newest edit of a commit in a run.
SELECT id, hash, segment_id, seq, token_sum FROM commits
WHERE segment_id = :segment_id AND seq >= :first AND seq <= :last AND target_id = :target_id
ORDER BY seq DESC LIMIT 1;

-- name: merges
-- A merge in a run, if there is one. Those of an earlier system are of any type.
SELECT seq FROM commits
WHERE segment_id = :segment_id AND seq >= :first AND seq <= :last AND second_parent_id IS NOT NULL LIMIT 1;

-- name: range
-- What compiling needs of a run of commits, in order.
SELECT c.id, b.hash, c.seq, c.content_type, c.role, c.target_id, coalesce(c.reported_tokens, c.tokens), c.metadata,
       a.priority, b.codec, b.size, b.data
FROM commits c
JOIN blobs b ON b.id = c.blob_id
LEFT JOIN annotations a ON a.commit_id = c.id
WHERE c.segment_id = :segment_id AND c.seq >= :first AND c.seq <= :last
ORDER BY c.seq;

-- name: facts
-- The same without texts, and without what only special commits have.
SELECT c.id, c.seq, c.content_type, c.role, c.target_id, coalesce(c.reported_tokens, c.tokens), c.metadata
FROM commits c
WHERE c.segment_id = :segment_id AND c.seq >= :first AND c.seq <= :last
ORDER BY c.seq;

-- name: special
-- The special commits of a run, in order, but for those that are special only by their annotation. The condition is that
-- of the index idx_commits_special.
SELECT c.id, c.seq, c.content_type, c.role, c.target_id, coalesce(c.reported_tokens, c.tokens), c.metadata, a.priority
FROM commits c
LEFT JOIN annotations a ON a.commit_id = c.id
WHERE c.segment_id = :segment_id AND c.seq >= :first AND c.seq <= :last
  AND (c.target_id IS NOT NULL OR c.content_type NOT IN ('dialogue', 'freeform', 'reasoning', 'tool_io'))
ORDER BY c.seq;

-- name: annotated
-- The others: annotations are few, and a run may have very many commits.
SELECT c.id, c.seq, c.content_type, c.role, c.target_id, coalesce(c.reported_tokens, c.tokens), c.metadata, a.priority
FROM annotations a CROSS JOIN commits c
WHERE c.id = a.commit_id AND c.segment_id = :segment_id AND c.seq >= :first AND c.seq <= :last
  AND c.target_id IS NULL AND c.content_type IN ('dialogue', 'freeform', 'reasoning', 'tool_io');

-- name: texts
-- The texts of a run of commits, in order.
SELECT c.seq, b.hash, b.codec, b.size, b.data
FROM commits c JOIN blobs b ON b.id = c.blob_id
WHERE c.segment_id = :segment_id AND c.seq >= :first AND c.seq <= :last
ORDER BY c.seq;

-- name: hashes
-- The hashes of the same texts.
SELECT c.seq, b.hash
FROM commits c JOIN blobs b ON b.id = c.blob_id
WHERE c.segment_id = :segment_id AND c.seq >= :first AND c.seq <= :last
ORDER BY c.seq;

-- name: tokens
-- How many tokens a run of commits has.
SELECT CAST(coalesce(sum(coalesce(reported_tokens, tokens)), 0) AS BIGINT) FROM commits
WHERE segment_id = :segment_id AND seq >= :first AND seq <= :last;

-- name: tokens_of
-- Where a commit lies, and how many tokens it has.
SELECT segment_id, seq, coalesce(reported_tokens, tokens) FROM commits WHERE id = :id;

-- name: rows
-- What people are shown of a run of commits, the newest first.
SELECT c.id, c.hash, p.hash AS parent, s.hash AS second_parent, c.seq, c.content_type, c.role, c.operation,
       t.hash AS target, c.author, coalesce(c.at_ms, c.created_ms) AS at_ms, c.tokens, c.reported_tokens, a.priority,
       c.metadata, b.codec, b.size, b.data, c.blob_id, b.hash AS content_hash, c.target_id
FROM commits c
JOIN blobs b ON b.id = c.blob_id
LEFT JOIN commits p ON p.id = c.parent_id
LEFT JOIN commits s ON s.id = c.second_parent_id
LEFT JOIN commits t ON t.id = c.target_id
LEFT JOIN annotations a ON a.commit_id = c.id
WHERE c.segment_id = :segment_id AND c.seq >= :first AND c.seq <= :last
ORDER BY c.seq DESC LIMIT :limit;

-- name: tags
-- A commit's tags.
SELECT tag FROM tags WHERE commit_id = :commit_id ORDER BY tag;

-- name: tagged
-- The commits that have a tag.
SELECT commit_id FROM tags WHERE tag = :tag;

-- name: set_tag
-- Give a commit a tag.
INSERT INTO tags (commit_id, tag) VALUES (:commit_id, :tag) ON CONFLICT DO NOTHING;

-- name: clear_tags
-- Take a commit's tags away.
DELETE FROM tags WHERE commit_id = :commit_id;

-- name: annotate
-- Say how much a commit matters.
INSERT INTO annotations (commit_id, priority) VALUES (:commit_id, :priority)
ON CONFLICT (commit_id) DO UPDATE SET priority = excluded.priority;

-- name: revision
-- How often what was compiled before may have become wrong.
SELECT coalesce(max(number), 0) FROM revisions;

-- name: revise
-- What was compiled before may be wrong.
INSERT INTO revisions (id, number) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET number = revisions.number + 1;

-- name: branches_at
-- The branches that point at a commit.
SELECT name FROM branches WHERE commit_id = :commit_id ORDER BY name;

-- name: content_types
-- The kinds of content that were registered.
SELECT name, default_role, default_priority, compression_priority, compiles FROM content_types;

-- name: register_type
-- Register a kind of content, or change it.
INSERT INTO content_types (name, default_role, default_priority, compression_priority, compiles)
VALUES (:name, :default_role, :default_priority, :compression_priority, :compiles)
ON CONFLICT (name) DO UPDATE SET
    default_role = excluded.default_role,
    default_priority = excluded.default_priority,
    compression_priority = excluded.compression_priority,
    compiles = excluded.compiles;
