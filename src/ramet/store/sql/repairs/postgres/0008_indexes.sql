-- Until 7e01c02d two indexes that hooks need were missing.

-- name: found
-- Whether the database has the superseded text.
SELECT 1 FROM pg_indexes WHERE schemaname = current_schema() AND indexname = 'idx_messages_prompts'
AND NOT EXISTS (SELECT 1 FROM pg_indexes WHERE schemaname = current_schema() AND indexname = 'idx_messages_lists');

-- name: repair
-- Make them.
CREATE INDEX idx_messages_lists ON messages (session_id, timestamp)
    WHERE tool_name IN ('TodoWrite', 'TaskCreate', 'TaskUpdate', 'update_plan');
CREATE INDEX idx_commits_boundaries ON commits (segment_id, seq) WHERE content_type = 'session';
