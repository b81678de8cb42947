-- name: rename
-- Give a branch another name.
UPDATE branches SET name = :new WHERE name = :old;

-- name: change_key
-- The row that a row of another database has become has another name now.
UPDATE archived_keys SET local_key = :local_key
WHERE origin = :origin AND subject = :subject AND foreign_key = :foreign_key;

-- name: own_origin
-- The name of this database.
SELECT name FROM origins WHERE id = 1;

-- name: put_blob
-- A content, unless it is there already.
INSERT INTO blobs (hash, codec, size, data) VALUES (:hash, :codec, :size, :data)
ON CONFLICT (hash) DO NOTHING;
