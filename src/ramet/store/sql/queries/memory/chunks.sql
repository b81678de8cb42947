-- name: put
-- Add a text to be searched, or renew it.
INSERT INTO embeddings (project_id, source_type, source_path, chunk_text, content_hash, updated_at)
VALUES (:project_id, :source_type, :source_path, :chunk_text, :content_hash, :now)
ON CONFLICT (coalesce(project_id, 0), source_type, source_path, content_hash)
DO UPDATE SET updated_at = excluded.updated_at
RETURNING id, project_id, source_type, source_path, chunk_text, updated_at;

-- name: put_vector
-- The vector of a text, and the model that it is of.
UPDATE embeddings SET model = :model, dimension = :dimension, embedding = :embedding WHERE id = :id;

-- name: delete
-- Delete the texts of a source path, of one project if it is given.
DELETE FROM embeddings
WHERE source_path = :source_path AND (CAST(:project_id AS BIGINT) IS NULL OR project_id = :project_id)
RETURNING id, project_id;

-- name: count
-- How many texts of each source type there are, and how many have a vector.
SELECT source_type, count(*), count(embedding) FROM embeddings
WHERE CAST(:project_id AS BIGINT) IS NULL OR project_id = :project_id
GROUP BY source_type ORDER BY source_type;

-- name: find
-- Some texts by their ids.
SELECT id, project_id, source_type, source_path, chunk_text, updated_at FROM embeddings WHERE id = :id;
