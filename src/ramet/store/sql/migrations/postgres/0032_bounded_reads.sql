-- Indexes for reads that took longer the more there was: all are small, and no append writes to one of them.

-- The session that writes to a branch.
CREATE INDEX idx_sessions_branch ON sessions (branch);
-- The newest notes in an effort's log, among a million other events.
CREATE INDEX idx_events_logged ON events (effort_id, id) WHERE kind = 'session.logged';
-- The run whose conversation is on a branch.
CREATE INDEX idx_runs_branch ON runs (branch);
