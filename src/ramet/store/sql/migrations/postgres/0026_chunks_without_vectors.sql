-- A text that a program gave to be searched has a vector only if a model has computed one.
ALTER TABLE embeddings ALTER COLUMN model DROP NOT NULL;
ALTER TABLE embeddings ALTER COLUMN dimension DROP NOT NULL;
ALTER TABLE embeddings ALTER COLUMN embedding DROP NOT NULL;
ALTER TABLE embeddings ADD CHECK
    ((model IS NULL) = (embedding IS NULL) AND (dimension IS NULL) = (embedding IS NULL));
DROP INDEX idx_embeddings_source;

-- Two rows without a project are the same row too, which a plain UNIQUE would not see.
CREATE UNIQUE INDEX idx_embeddings_source
    ON embeddings (coalesce(project_id, 0), source_type, source_path, content_hash, coalesce(model, ''));
CREATE INDEX idx_embeddings_path ON embeddings (source_path);
