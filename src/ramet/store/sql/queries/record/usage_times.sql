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

-- name: since_in_all
-- What was used since a time. Sums are floating point numbers, because no integer may hold what a program reports.
SELECT coalesce(sum(CAST(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens AS DOUBLE PRECISION)), 0.0),
       coalesce(sum(coalesce(cost_usd, 0.0) + coalesce(estimated_usd, 0.0)), 0.0), coalesce(sum(estimated_usd), 0.0)
FROM usage_times WHERE at_ms >= :since_ms;

-- name: since_in_project
-- The same for one project.
SELECT coalesce(sum(CAST(u.input_tokens + u.output_tokens + u.cache_read_tokens + u.cache_write_tokens AS DOUBLE PRECISION)),
                0.0),
       coalesce(sum(coalesce(u.cost_usd, 0.0) + coalesce(u.estimated_usd, 0.0)), 0.0),
       coalesce(sum(u.estimated_usd), 0.0)
FROM usage_times u JOIN sessions s ON s.id = u.session_id JOIN tasks t ON t.dir_path = s.task_id
WHERE u.at_ms >= :since_ms AND t.project_id = :project_id;
