-- name: put
-- Keep an image, unless it is known.
INSERT INTO images (hash, media_type, data) VALUES (:hash, :media_type, :data) ON CONFLICT (hash) DO NOTHING;

-- name: find
-- An image by its hash.
SELECT media_type, data FROM images WHERE hash = :hash;

-- name: delete
-- Delete an image.
DELETE FROM images WHERE hash = :hash;
