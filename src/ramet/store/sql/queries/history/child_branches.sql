-- name: insert
-- A child history and where it comes from.
INSERT INTO spawn_pointers (parent_branch, parent_commit_id, child_branch, purpose, inheritance_mode, display_name,
                            created_at, parent_session_id, child_session_id)
VALUES (:parent_branch, :parent_commit_id, :child_branch, :purpose, :inheritance_mode, :display_name, :now,
        :parent_session_id, :child_session_id)
RETURNING id;

-- name: by_id
-- A pointer.
SELECT p.id, p.parent_branch, c.hash, p.child_branch, p.purpose, p.inheritance_mode, p.display_name, p.created_at
FROM spawn_pointers p LEFT JOIN commits c ON c.id = p.parent_commit_id WHERE p.id = :id;

-- name: by_child
-- The pointer of which a history is the child.
SELECT p.id, p.parent_branch, c.hash, p.child_branch, p.purpose, p.inheritance_mode, p.display_name, p.created_at
FROM spawn_pointers p LEFT JOIN commits c ON c.id = p.parent_commit_id WHERE p.child_branch = :branch;

-- name: by_parent
-- The pointers of which a history is the parent, the oldest first, behind one.
SELECT p.id, p.parent_branch, c.hash, p.child_branch, p.purpose, p.inheritance_mode, p.display_name, p.created_at
FROM spawn_pointers p LEFT JOIN commits c ON c.id = p.parent_commit_id
WHERE p.parent_branch = :branch
  AND (:after = 0 OR (p.created_at, p.id) > (SELECT l.created_at, l.id FROM spawn_pointers l WHERE l.id = :after))
ORDER BY p.created_at, p.id LIMIT :limit;

-- name: involving
-- The pointers in which a history is parent or child, the oldest first.
SELECT p.id, p.parent_branch, c.hash, p.child_branch, p.purpose, p.inheritance_mode, p.display_name, p.created_at
FROM spawn_pointers p LEFT JOIN commits c ON c.id = p.parent_commit_id
WHERE p.parent_branch = :branch OR p.child_branch = :branch ORDER BY p.created_at, p.id;

-- name: parent_of
-- The parent of a history.
SELECT parent_branch FROM spawn_pointers WHERE child_branch = :branch;

-- name: record_collapse
-- A parent has taken in what a child had done; the very same commit may be known from before a reset.
INSERT INTO collapses (spawn_id, commit_id, child_head_id, at_ms)
VALUES (:spawn_id, :commit_id, :child_head_id, :now_ms)
ON CONFLICT (commit_id) DO NOTHING;

-- name: collapses_of
-- The commits by which a parent took in what a child had done.
SELECT c.hash FROM collapses k JOIN commits c ON c.id = k.commit_id WHERE k.spawn_id = :spawn_id ORDER BY k.id;

-- name: collapse_at
-- What a collapse commit stands for.
SELECT p.child_branch, h.id, h.hash, h.segment_id, h.seq, h.token_sum
FROM collapses k
JOIN spawn_pointers p ON p.id = k.spawn_id
LEFT JOIN commits h ON h.id = k.child_head_id
WHERE k.commit_id = :commit_id;

-- name: unended_roots
-- Root histories by when they were last written to, the newest first.
SELECT b.name, c.id, c.hash, c.segment_id, c.seq, c.token_sum
FROM branches b
JOIN commits c ON c.id = b.commit_id
LEFT JOIN spawn_pointers p ON p.child_branch = b.name
WHERE p.id IS NULL AND substr(b.name, 1, length(CAST(:prefix AS TEXT))) = :prefix
ORDER BY c.created_ms DESC, c.id DESC;
