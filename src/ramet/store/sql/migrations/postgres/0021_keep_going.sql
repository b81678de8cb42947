-- Whether the lines of a run start even if a line that they depend on did not succeed. Runs from before have lines that
-- wait only for the end of others, so they go on as they began.
ALTER TABLE runs ADD COLUMN keep_going INTEGER NOT NULL DEFAULT 0 CHECK (keep_going IN (0, 1));
