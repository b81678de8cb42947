-- Edits, and the commits of all types but those of plain turns: a long history has few of them, and what is visible of
-- it follows from them.
CREATE INDEX idx_commits_special ON commits (segment_id, seq)
WHERE target_id IS NOT NULL OR content_type NOT IN ('dialogue', 'freeform', 'reasoning', 'tool_io');
