-- name: above
-- For each of some sessions the budgets that bind it, the nearest first: its own, then those of the session that it
-- continues, then those of its parent. A session continues another one of its tree where both have the same parent.
WITH RECURSIVE above (seed, id) AS (
    SELECT CAST(value AS BIGINT), CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:ids AS JSON)) AS value
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
WHERE session_id IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:ids AS JSON)) AS value)
RETURNING session_id, tokens, cost_usd, spent_tokens, spent_cost_usd, settled_at IS NOT NULL;

-- name: hold_tree
-- Let nobody report on a tree until this transaction ends: a report holds its session, and what it used is counted or
-- seen, never neither.
SELECT id FROM sessions WHERE root_session_id = :root_session_id ORDER BY id FOR UPDATE;
