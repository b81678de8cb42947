-- name: add
-- Add what a session used to what it had used in the same quarter of an hour. A cost is null until one is known.
INSERT INTO usage_times (session_id, at_ms, model, calls, input_tokens, output_tokens, cache_read_tokens,
                         cache_write_tokens, injected_tokens, cost_usd, estimated_usd)
VALUES (:session_id, :at_ms, :model, :calls, :input_tokens, :output_tokens, :cache_read_tokens,
        :cache_write_tokens, :injected_tokens, :cost_usd, :estimated_usd)
ON CONFLICT (session_id, at_ms, model) DO UPDATE SET
    calls = usage_times.calls + excluded.calls,
    input_tokens = usage_times.input_tokens + excluded.input_tokens,
    output_tokens = usage_times.output_tokens + excluded.output_tokens,
    cache_read_tokens = usage_times.cache_read_tokens + excluded.cache_read_tokens,
    cache_write_tokens = usage_times.cache_write_tokens + excluded.cache_write_tokens,
    injected_tokens = usage_times.injected_tokens + excluded.injected_tokens,
    cost_usd = coalesce(usage_times.cost_usd + excluded.cost_usd, usage_times.cost_usd, excluded.cost_usd),
    estimated_usd = coalesce(usage_times.estimated_usd + excluded.estimated_usd, usage_times.estimated_usd,
                             excluded.estimated_usd);

-- name: forget_estimates
-- The cost of a session is known: its calls need no estimates any more.
UPDATE usage_times SET estimated_usd = NULL WHERE session_id = :session_id AND estimated_usd IS NOT NULL;
