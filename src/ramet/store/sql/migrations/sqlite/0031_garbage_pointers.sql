-- Deleting a segment or a move looks for those that point at it. Both are rare, so the indexes cost next to nothing.
CREATE INDEX idx_segments_base ON segments (base_segment_id) WHERE base_segment_id IS NOT NULL;
CREATE INDEX idx_moves_undoes ON moves (undoes) WHERE undoes IS NOT NULL;
