-- name: is_bounded
-- Whether anything in the tree of a session is bounded.
SELECT EXISTS (SELECT 1 FROM budgets b WHERE b.root_session_id = s.root_session_id)
FROM sessions s WHERE s.id = :session_id;

-- name: is_counted
-- Whether what a session uses is counted for itself.
SELECT 1 FROM budgets WHERE session_id = :session_id;

-- name: promised
-- What the open budgets of a tree may still use, by the session that each stands below: the one that its own session
-- continues, else its parent.
SELECT coalesce(p.id, s.parent_session_id),
       CAST(sum(CASE WHEN b.tokens > b.spent_tokens THEN b.tokens - b.spent_tokens ELSE 0 END) AS BIGINT),
       sum(CASE WHEN b.cost_usd > b.spent_cost_usd THEN b.cost_usd - b.spent_cost_usd ELSE 0.0 END)
FROM budgets b
JOIN sessions s ON s.id = b.session_id
LEFT JOIN sessions p ON p.id = s.prev_session_id AND p.root_session_id = s.root_session_id
                    AND p.parent_session_id IS NOT DISTINCT FROM s.parent_session_id
WHERE b.root_session_id = :root_session_id AND b.settled_at IS NULL
  AND coalesce(p.id, s.parent_session_id) IS NOT NULL
GROUP BY coalesce(p.id, s.parent_session_id);

-- name: above
-- For each of some sessions the budgets that bind it, the nearest first: its own, then those of the session that it
-- continues, then those of its parent. A session continues another one of its tree where both have the same parent.
WITH RECURSIVE above (seed, id) AS (
    SELECT CAST(value AS BIGINT), CAST(value AS BIGINT) FROM json_each(:ids)
    UNION ALL
    SELECT a.seed, coalesce(p.id, s.parent_session_id)
    FROM above a
    JOIN sessions s ON s.id = a.id
    LEFT JOIN sessions p ON p.id = s.prev_session_id AND p.root_session_id = s.root_session_id
                        AND p.parent_session_id IS NOT DISTINCT FROM s.parent_session_id
    WHERE coalesce(p.id, s.parent_session_id) IS NOT NULL
)
SELECT a.seed, b.session_id, b.tokens, b.cost_usd, b.spent_tokens, b.spent_cost_usd, b.settled_at IS NOT NULL
FROM above a JOIN budgets b ON b.session_id = a.id
ORDER BY a.seed, b.session_id DESC;

-- name: add_spent
-- Count what was used in some budgets; whoever counts in one of them too waits for the other's end.
UPDATE budgets SET spent_tokens = spent_tokens + :tokens, spent_cost_usd = spent_cost_usd + :cost_usd
WHERE session_id IN (SELECT CAST(value AS BIGINT) FROM json_each(:ids))
RETURNING session_id, tokens, cost_usd, spent_tokens, spent_cost_usd, settled_at IS NOT NULL;

-- name: hold_tree
-- Let nobody report on a tree until this transaction ends: nobody else writes meanwhile.
SELECT :root_session_id;

-- name: sum_below
-- What a session, what continues it and all below have used, each call once.
WITH RECURSIVE below (id, parent_id) AS (
    SELECT s.id, s.parent_session_id FROM sessions s WHERE s.id = :session_id
    UNION
    SELECT s.id, s.parent_session_id
    FROM below b
    JOIN sessions s ON s.parent_session_id = b.id
                    OR (s.prev_session_id = b.id AND s.root_session_id <> s.id
                        AND s.parent_session_id IS NOT DISTINCT FROM b.parent_id)
)
SELECT CAST(coalesce(sum(u.input_tokens + u.output_tokens + u.cache_read_tokens + u.cache_write_tokens), 0) AS BIGINT),
       sum(coalesce(u.cost_usd, u.estimated_usd)),
       coalesce(max(CASE WHEN u.cost_usd IS NULL AND u.estimated_usd IS NOT NULL THEN 1 ELSE 0 END), 0)
FROM below b JOIN usage u ON u.session_id = b.id;

-- name: put
-- Bound what a session and all below it may use; what was used before counts. Where its effort is over, nothing is
-- promised to it.
INSERT INTO budgets (session_id, root_session_id, tokens, cost_usd, spent_tokens, spent_cost_usd, settled_at)
SELECT s.id, s.root_session_id, :tokens, :cost_usd, :spent_tokens, :spent_cost_usd, e.finished_at
FROM sessions s JOIN efforts e ON e.id = s.effort_id WHERE s.id = :session_id
ON CONFLICT (session_id) DO UPDATE SET
    tokens = excluded.tokens, cost_usd = excluded.cost_usd,
    spent_tokens = excluded.spent_tokens, spent_cost_usd = excluded.spent_cost_usd;

-- name: settle
-- The effort of a session is over: what its sessions have not used of their budgets is free again.
UPDATE budgets SET settled_at = :now
WHERE settled_at IS NULL AND session_id IN (
    SELECT o.id FROM sessions s JOIN sessions o ON o.effort_id = s.effort_id WHERE s.id = :session_id
);

-- name: reopen
-- An effort is taken up again, with the budgets that its sessions had.
UPDATE budgets SET settled_at = NULL
WHERE settled_at IS NOT NULL AND session_id IN (SELECT id FROM sessions WHERE effort_id = :effort_id);

-- name: move_tree
-- A root continues a session of another tree: there its budgets are from then on, and those of all below it.
UPDATE budgets SET root_session_id = :root_session_id WHERE root_session_id = :session_id;

-- name: children
-- The newest children of a session.
SELECT id, effort_id, outcome FROM sessions WHERE parent_session_id = :session_id ORDER BY id DESC LIMIT :most;
