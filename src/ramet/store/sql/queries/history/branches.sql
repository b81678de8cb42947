-- name: find
-- A branch and where it stands.
SELECT b.name, c.hash, coalesce(c.seq, 0), coalesce(c.token_sum, 0), b.created_ms, s.parent_branch
FROM branches b
LEFT JOIN commits c ON c.id = b.commit_id
LEFT JOIN spawn_pointers s ON s.child_branch = b.name
WHERE b.name = :name;

-- name: list
-- The branches whose names begin with a text, by name, behind one.
SELECT b.name, c.hash, coalesce(c.seq, 0), coalesce(c.token_sum, 0), b.created_ms, s.parent_branch
FROM branches b
LEFT JOIN commits c ON c.id = b.commit_id
LEFT JOIN spawn_pointers s ON s.child_branch = b.name
WHERE b.name > :after AND substr(b.name, 1, length(CAST(:prefix AS TEXT))) = :prefix
ORDER BY b.name LIMIT :limit;

-- name: delete
-- Let go of a name.
DELETE FROM branches WHERE name = :name;

-- name: session_of
-- The session that writes to a branch.
SELECT id FROM sessions WHERE branch = :name;

-- name: record_move
-- Write down a move that is not a plain append.
INSERT INTO moves (branch_name, old_commit_id, new_commit_id, why, at_ms, undoes)
VALUES (:name, :old_commit_id, :new_commit_id, :why, :now_ms, :undoes);

-- name: last_move
-- The newest move of a branch that has not been taken back and is not itself a taking back.
SELECT m.id, m.old_commit_id, m.why FROM moves m
WHERE m.branch_name = :name AND m.undoes IS NULL AND m.why <> 'undo'
  AND NOT EXISTS (SELECT 1 FROM moves u WHERE u.undoes = m.id)
ORDER BY m.id DESC LIMIT 1;

-- name: first_move_after
-- Where a branch stood before the first move later than an instant.
SELECT m.id, o.id, o.hash, o.segment_id, o.seq, o.token_sum
FROM moves m LEFT JOIN commits o ON o.id = m.old_commit_id
WHERE m.branch_name = :name AND m.at_ms > :instant_ms ORDER BY m.id LIMIT 1;

-- name: moves
-- The moves of a branch, the newest first, older than one.
SELECT m.id, m.branch_name, o.hash, n.hash, m.why, m.at_ms,
       CASE WHEN EXISTS (SELECT 1 FROM moves u WHERE u.undoes = m.id) THEN 1 ELSE 0 END
FROM moves m
LEFT JOIN commits o ON o.id = m.old_commit_id
LEFT JOIN commits n ON n.id = m.new_commit_id
WHERE m.branch_name = :name AND m.id < :before ORDER BY m.id DESC LIMIT :limit;
