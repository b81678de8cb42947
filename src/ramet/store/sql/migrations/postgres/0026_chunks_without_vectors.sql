-- A text that a program gave to be searched is one row. It has a vector only if a model has computed one.
DELETE FROM embeddings
WHERE id NOT IN (SELECT max(o.id) FROM embeddings o
                 GROUP BY coalesce(o.project_id, 0), o.source_type, o.source_path, o.content_hash);
ALTER TABLE embeddings ALTER COLUMN model DROP NOT NULL;
ALTER TABLE embeddings ALTER COLUMN dimension DROP NOT NULL;
ALTER TABLE embeddings ALTER COLUMN embedding DROP NOT NULL;
ALTER TABLE embeddings ADD CHECK
    ((model IS NULL) = (embedding IS NULL) AND (dimension IS NULL) = (embedding IS NULL));
DROP INDEX idx_embeddings_source;

-- Two rows without a project are the same row too, which a plain UNIQUE would not see.
CREATE UNIQUE INDEX idx_embeddings_source
    ON embeddings (coalesce(project_id, 0), source_type, source_path, content_hash);
CREATE INDEX idx_embeddings_path ON embeddings (source_path);
