-- What a session's calls would cost by the price table, where its program does not say it; and its model.

ALTER TABLE usage ADD COLUMN estimated_usd REAL;
ALTER TABLE sessions ADD COLUMN model TEXT;

-- The cost of a session is read again and again, so it is read from the index alone.
DROP INDEX idx_usage_cost;
CREATE INDEX idx_usage_cost ON usage (session_id, cost_usd, estimated_usd)
WHERE cost_usd IS NOT NULL OR estimated_usd IS NOT NULL;
