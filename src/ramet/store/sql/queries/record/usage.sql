-- name: said
-- What a session has said that it used under a key, and what that would cost.
SELECT model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, estimated_usd
FROM usage WHERE session_id = :session_id AND key = :key;

-- name: put
-- What a session used, under a key; the same key again replaces it.
INSERT INTO usage (session_id, key, model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd,
                   estimated_usd)
VALUES (:session_id, :key, :model, :input_tokens, :output_tokens, :cache_read_tokens, :cache_write_tokens, :cost_usd,
        :estimated_usd)
ON CONFLICT (session_id, key) DO UPDATE SET
    model = excluded.model, input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
    cache_read_tokens = excluded.cache_read_tokens, cache_write_tokens = excluded.cache_write_tokens,
    cost_usd = excluded.cost_usd, estimated_usd = excluded.estimated_usd;

-- name: forget_estimates
-- The cost of a session is known: its calls need no estimates any more.
UPDATE usage SET estimated_usd = NULL WHERE session_id = :session_id AND estimated_usd IS NOT NULL;

-- name: whole
-- All that a cost of a whole session has to do with: whether the transcript has told one, what the status line has told,
-- the estimates of the session's own calls and of its sub-agents', and what was taken off for these. Sub-agents serve
-- the same effort, and no keeper holds them.
WITH RECURSIVE within (id) AS (
    SELECT s.id FROM sessions p JOIN sessions s ON s.parent_session_id = p.id AND s.effort_id = p.effort_id
    WHERE p.id = :session_id AND s.instance IS NULL
    UNION ALL
    SELECT s.id FROM within w JOIN sessions s ON s.parent_session_id = w.id
    JOIN sessions p ON p.id = w.id AND p.effort_id = s.effort_id
    WHERE s.instance IS NULL
)
SELECT EXISTS (SELECT 1 FROM usage WHERE session_id = :session_id AND cost_usd > 0
                                     AND substr(key, 1, length(CAST(:running AS TEXT))) = :running),
       (SELECT cost_usd FROM usage WHERE session_id = :session_id AND key = :status_line),
       (SELECT coalesce(sum(estimated_usd), 0.0) FROM usage
        WHERE session_id = :session_id AND cost_usd IS NULL AND estimated_usd IS NOT NULL),
       (SELECT coalesce(sum(u.estimated_usd), 0.0) FROM within w CROSS JOIN usage u
        WHERE u.session_id = w.id AND u.cost_usd IS NULL AND u.estimated_usd IS NOT NULL),
       (SELECT coalesce(sum(cost_usd), 0.0) FROM usage WHERE session_id = :session_id AND key = :below);

-- name: of_effort
-- What the sessions of an effort used together; no row where none has said.
SELECT CAST(sum(u.input_tokens) AS BIGINT) AS input_tokens, CAST(sum(u.output_tokens) AS BIGINT) AS output_tokens,
       CAST(sum(u.cache_read_tokens) AS BIGINT) AS cache_read_tokens,
       CAST(sum(u.cache_write_tokens) AS BIGINT) AS cache_write_tokens,
       sum(coalesce(u.cost_usd, u.estimated_usd)) AS cost_usd,
       nullif(max(CASE WHEN u.cost_usd IS NULL AND u.estimated_usd IS NOT NULL THEN 1 ELSE 0 END), 0)
           AS is_cost_estimated
FROM sessions s JOIN usage u ON u.session_id = s.id
WHERE s.effort_id = :effort_id
HAVING count(*) > 0;

-- name: has_cost
-- Whether a session has a cost under keys that begin so.
SELECT 1 FROM usage
WHERE session_id = :session_id AND cost_usd > 0 AND substr(key, 1, length(CAST(:prefix AS TEXT))) = :prefix LIMIT 1;

-- name: of_another
-- The first other session than this one that has said what it used under a key.
SELECT session_id FROM usage WHERE key = :key AND session_id <> :session_id ORDER BY session_id LIMIT 1;

-- name: cost_before
-- The most that an older session has cost under a key.
SELECT coalesce(max(cost_usd), 0.0) FROM usage WHERE key = :key AND session_id < :session_id;
