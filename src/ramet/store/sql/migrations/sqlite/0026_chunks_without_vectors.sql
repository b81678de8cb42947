-- A text that a program gave to be searched is one row. It has a vector only if a model has computed one. SQLite changes
-- no column in place.
ALTER TABLE embeddings RENAME TO old_embeddings;
DROP INDEX idx_embeddings_source;
CREATE TABLE embeddings (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id   INTEGER REFERENCES projects (id) ON DELETE CASCADE,
    source_type  TEXT NOT NULL,
    source_path  TEXT NOT NULL,
    chunk_text   TEXT,
    content_hash BLOB NOT NULL CHECK (length(content_hash) = 32),
    model        TEXT,
    dimension    INTEGER CHECK (dimension > 0),
    embedding    BLOB CHECK (length(embedding) = 4 * dimension),
    updated_at   TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    CHECK ((model IS NULL) = (embedding IS NULL) AND (dimension IS NULL) = (embedding IS NULL))
) STRICT;
INSERT INTO embeddings (id, project_id, source_type, source_path, chunk_text, content_hash, model, dimension, embedding,
                        updated_at)
SELECT id, project_id, source_type, source_path, chunk_text, content_hash, model, dimension, embedding, updated_at
FROM old_embeddings
WHERE id IN (SELECT max(o.id) FROM old_embeddings o
             GROUP BY coalesce(o.project_id, 0), o.source_type, o.source_path, o.content_hash);
DROP TABLE old_embeddings;

-- Two rows without a project are the same row too, which a plain UNIQUE would not see.
CREATE UNIQUE INDEX idx_embeddings_source
    ON embeddings (coalesce(project_id, 0), source_type, source_path, content_hash);
CREATE INDEX idx_embeddings_path ON embeddings (source_path);
