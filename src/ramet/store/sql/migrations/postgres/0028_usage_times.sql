-- When what was used was used: what each session used in each quarter of an hour, by model. A key of `usage` may be a sum
-- that grows for days, so its row cannot say it. Quarters of an hour make whole days in every time zone. calls are the
-- calls of models, as far as they are known; injected_tokens are Ramet's own texts in prompts, which are input tokens too.
CREATE TABLE usage_times (
    session_id         BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    at_ms              BIGINT NOT NULL CHECK (at_ms % 900000 = 0),
    model              TEXT NOT NULL,
    calls              BIGINT NOT NULL DEFAULT 0,
    input_tokens       BIGINT NOT NULL DEFAULT 0,
    output_tokens      BIGINT NOT NULL DEFAULT 0,
    cache_read_tokens  BIGINT NOT NULL DEFAULT 0,
    cache_write_tokens BIGINT NOT NULL DEFAULT 0,
    injected_tokens    BIGINT NOT NULL DEFAULT 0,
    cost_usd           DOUBLE PRECISION,
    estimated_usd      DOUBLE PRECISION,
    PRIMARY KEY (at_ms, session_id, model)
);
CREATE INDEX idx_usage_times_session ON usage_times (session_id);

-- What was used before has the time of its session's end, or else of its last sign of life.
INSERT INTO usage_times (session_id, at_ms, model, calls, input_tokens, output_tokens, cache_read_tokens,
                         cache_write_tokens, cost_usd, estimated_usd)
SELECT u.session_id, CAST(floor(extract(epoch FROM CAST(coalesce(s.ended_at, s.last_heartbeat, s.created_at) AS TIMESTAMPTZ)) / 900) AS BIGINT) * 900000,
       coalesce(u.model, ''), sum(CASE WHEN u.input_tokens + u.cache_read_tokens + u.cache_write_tokens > 0 THEN 1 ELSE 0 END),
       CAST(sum(u.input_tokens) AS BIGINT), CAST(sum(u.output_tokens) AS BIGINT), CAST(sum(u.cache_read_tokens) AS BIGINT),
       CAST(sum(u.cache_write_tokens) AS BIGINT), sum(u.cost_usd), sum(u.estimated_usd)
FROM usage u JOIN sessions s ON s.id = u.session_id
GROUP BY 1, 2, 3;
