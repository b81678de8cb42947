-- name: take_branch
-- Let nobody else move a branch until this transaction ends.
SELECT id FROM branches WHERE name = :name FOR UPDATE;
