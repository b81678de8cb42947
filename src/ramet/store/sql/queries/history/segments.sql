-- name: create_branch
-- A new branch, empty or at a commit.
INSERT INTO branches (name, commit_id, created_ms) VALUES (:name, :commit_id, :now_ms)
RETURNING id;

-- name: head
-- Where a branch stands.
SELECT b.id AS branch_id, c.segment_id, coalesce(c.seq, 0) AS seq, c.id AS commit_id, c.hash AS commit_hash,
       coalesce(c.token_sum, 0) AS token_sum
FROM branches b LEFT JOIN commits c ON c.id = b.commit_id
WHERE b.name = :name;

-- name: take_branch
-- Let nobody else move a branch until this transaction ends.
SELECT id FROM branches WHERE name = :name;

-- name: head_at
-- A branch as if it stood at a commit.
SELECT CAST(:branch_id AS BIGINT), segment_id, seq, id, hash, token_sum FROM commits WHERE id = :commit_id;

-- name: put_blob
-- Keep a content, unless it is there already.
INSERT INTO blobs (hash, codec, size, data) VALUES (:hash, :codec, :size, :data)
ON CONFLICT (hash) DO NOTHING
RETURNING id;

-- name: blob_id
-- The id of a content.
SELECT id FROM blobs WHERE hash = :hash;

-- name: create_segment
-- A new run of commits.
INSERT INTO segments (base_segment_id, base_seq) VALUES (:base_segment_id, :base_seq)
RETURNING id;

-- name: known_commit
-- A commit by its hash, and where it lies.
SELECT id, segment_id, token_sum FROM commits WHERE hash = :hash;

-- name: insert_commit
-- A new commit at the end of a segment; no row where the commit is known, or its place in the segment is taken.
INSERT INTO commits (hash, segment_id, seq, parent_id, second_parent_id, blob_id, content_type, role, operation,
                     target_id, author, at_ms, created_ms, tokens, token_sum, reported_tokens, metadata)
VALUES (:hash, :segment_id, :seq, :parent_id, :second_parent_id, :blob_id, :content_type, :role, :operation,
        :target_id, :author, :at_ms, :now_ms, :tokens, :token_sum, :reported_tokens, :metadata)
ON CONFLICT DO NOTHING
RETURNING id;

-- name: move_branch
-- Let a branch point at a commit.
UPDATE branches SET commit_id = :commit_id WHERE id = :branch_id;

-- name: base
-- Where a segment grows out of another.
SELECT base_segment_id, base_seq FROM segments WHERE id = :segment_id;
