-- Indexes for reads that took longer the more there was: all are small, and no append writes to one of them.

-- The session that writes to a branch.
CREATE INDEX idx_sessions_branch ON sessions (branch);
-- The newest notes in an effort's log, among a million other events.
CREATE INDEX idx_events_logged ON events (effort_id, id) WHERE kind = 'session.logged';
-- The run whose conversation is on a branch.
CREATE INDEX idx_runs_branch ON runs (branch);
-- Merges, of which a long history has few: no summary takes the place of one, whatever its type.
CREATE INDEX idx_commits_merges ON commits (segment_id, seq) WHERE second_parent_id IS NOT NULL;
