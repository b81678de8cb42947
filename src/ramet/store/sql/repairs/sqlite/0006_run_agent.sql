-- Until f2414985 an effort did not say which agent its run asked for.

-- name: found
-- Whether the database has the superseded text.
SELECT 1 FROM pragma_table_info('efforts') WHERE name = 'run_order'
AND NOT EXISTS (SELECT 1 FROM pragma_table_info('efforts') WHERE name = 'run_agent');

-- name: repair
-- Add the column. Nothing reads columns by their place.
ALTER TABLE efforts ADD COLUMN run_agent TEXT;
