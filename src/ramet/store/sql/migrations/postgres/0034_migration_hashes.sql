-- The SHA-256 of each migration's text as it was applied here: null if that is not proved.
ALTER TABLE schema_migrations ADD COLUMN hash TEXT;
