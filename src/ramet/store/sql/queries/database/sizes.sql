-- name: counts
-- How many rows the tables have that grow.
SELECT 'blobs', count(*) FROM blobs UNION ALL SELECT 'commits', count(*) FROM commits
UNION ALL SELECT 'messages', count(*) FROM messages UNION ALL SELECT 'images', count(*) FROM images
UNION ALL SELECT 'events', count(*) FROM events UNION ALL SELECT 'sessions', count(*) FROM sessions
UNION ALL SELECT 'efforts', count(*) FROM efforts UNION ALL SELECT 'idempotency', count(*) FROM idempotency
UNION ALL SELECT 'usage', count(*) FROM usage UNION ALL SELECT 'tombstones', count(*) FROM tombstones;

-- name: oldest
-- When the oldest session with its texts ended.
SELECT min(ended_at) FROM sessions WHERE ended_at IS NOT NULL AND purged_at IS NULL;

-- name: relations
-- How many bytes each table and index takes on a server.
SELECT 1, 2 WHERE 1 = 0;

-- name: connections
-- How many connections a server gives us at most.
SELECT 1 WHERE 1 = 0;
