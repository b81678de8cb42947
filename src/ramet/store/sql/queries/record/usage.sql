-- name: said
-- What a session has said that it used under a key.
SELECT input_tokens + output_tokens + cache_read_tokens + cache_write_tokens, coalesce(cost_usd, 0.0)
FROM usage WHERE session_id = :session_id AND key = :key;

-- name: put
-- What a session used, under a key; the same key again replaces it.
INSERT INTO usage (session_id, key, model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd)
VALUES (:session_id, :key, :model, :input_tokens, :output_tokens, :cache_read_tokens, :cache_write_tokens, :cost_usd)
ON CONFLICT (session_id, key) DO UPDATE SET
    model = excluded.model, input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
    cache_read_tokens = excluded.cache_read_tokens, cache_write_tokens = excluded.cache_write_tokens,
    cost_usd = excluded.cost_usd;

-- name: of_effort
-- What the sessions of an effort used together; no row where none has said.
SELECT CAST(sum(u.input_tokens) AS BIGINT) AS input_tokens, CAST(sum(u.output_tokens) AS BIGINT) AS output_tokens,
       CAST(sum(u.cache_read_tokens) AS BIGINT) AS cache_read_tokens,
       CAST(sum(u.cache_write_tokens) AS BIGINT) AS cache_write_tokens, sum(u.cost_usd) AS cost_usd
FROM sessions s JOIN usage u ON u.session_id = s.id
WHERE s.effort_id = :effort_id
HAVING count(*) > 0;

-- name: has_cost
-- Whether a session has a cost under keys that begin so.
SELECT 1 FROM usage
WHERE session_id = :session_id AND cost_usd > 0 AND substr(key, 1, length(CAST(:prefix AS TEXT))) = :prefix LIMIT 1;

-- name: of_another
-- Whether another session than this one has said what it used under a key.
SELECT 1 FROM usage WHERE key = :key AND session_id <> :session_id LIMIT 1;

-- name: cost_before
-- The most that an older session has cost under a key.
SELECT coalesce(max(cost_usd), 0.0) FROM usage WHERE key = :key AND session_id < :session_id;
