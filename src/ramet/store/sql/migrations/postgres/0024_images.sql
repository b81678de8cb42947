-- The images of prompts and of tools' results, each once. Commits name them by their hashes in their metadata.
CREATE TABLE images (
    hash       BYTEA PRIMARY KEY NOT NULL,
    media_type TEXT NOT NULL,
    data       BYTEA NOT NULL
);
