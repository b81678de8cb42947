-- name: blobs_after
-- Contents in the order of their ids.
SELECT id, hash, codec, size, data FROM blobs WHERE id > :after ORDER BY id LIMIT :limit;

-- name: blobs_between
-- A page of contents.
SELECT id, hash, codec, size, data FROM blobs WHERE id > :after AND id <= :upto ORDER BY id;

-- name: commits_between
-- A page of commits, with everything that their hashes cover and their parent's place.
SELECT c.id, c.hash, c.segment_id, c.seq, c.content_type, c.role, c.operation, c.author, c.at_ms, c.tokens,
       c.token_sum, c.metadata, b.hash, p.hash, p.seq, p.token_sum, p.segment_id, s.hash, t.hash,
       g.base_segment_id, g.base_seq,
       EXISTS (SELECT 1 FROM tombstones x WHERE x.subject = 'commit' AND x.hash = c.hash)
FROM commits c
JOIN blobs b ON b.id = c.blob_id
JOIN segments g ON g.id = c.segment_id
LEFT JOIN commits p ON p.id = c.parent_id
LEFT JOIN commits s ON s.id = c.second_parent_id
LEFT JOIN commits t ON t.id = c.target_id
WHERE c.id > :after AND c.id <= :upto ORDER BY c.id;

-- name: newest_blob
-- The highest number of a content.
SELECT coalesce(max(id), 0) FROM blobs;

-- name: newest_commit
-- The highest number of a commit.
SELECT coalesce(max(id), 0) FROM commits;

-- name: newest_pointer
-- The highest number of a row that points at another.
SELECT max(id) FROM (
    SELECT coalesce(max(id), 0) AS id FROM branches
    UNION ALL SELECT coalesce(max(id), 0) FROM commits
    UNION ALL SELECT coalesce(max(id), 0) FROM moves
    UNION ALL SELECT coalesce(max(id), 0) FROM messages
    UNION ALL SELECT coalesce(max(id), 0) FROM efforts) newest;

-- name: next_blob
-- The number of the content that follows a number.
SELECT min(id) FROM blobs WHERE id > :after;

-- name: next_commit
-- The number of the commit that follows a number.
SELECT min(id) FROM commits WHERE id > :after;

-- name: next_pointer
-- The number of the row that points at another and follows a number.
SELECT min(id) FROM (
    SELECT min(id) AS id FROM branches WHERE id > :after
    UNION ALL SELECT min(id) FROM commits WHERE id > :after
    UNION ALL SELECT min(id) FROM moves WHERE id > :after
    UNION ALL SELECT min(id) FROM messages WHERE id > :after
    UNION ALL SELECT min(id) FROM efforts WHERE id > :after) following;

-- name: astray
-- Pointers in a page of each table that lead to nothing: whose, and to what.
SELECT 'branch ' || h.name, 'commit ' || h.commit_id FROM branches h
WHERE h.id > :after AND h.id <= :upto AND h.commit_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM commits t WHERE t.id = h.commit_id)
UNION ALL
SELECT 'commit ' || h.id, 'blob ' || h.blob_id FROM commits h
WHERE h.id > :after AND h.id <= :upto AND h.blob_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blobs t WHERE t.id = h.blob_id)
UNION ALL
SELECT 'commit ' || h.id, 'commit ' || h.parent_id FROM commits h
WHERE h.id > :after AND h.id <= :upto AND h.parent_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM commits t WHERE t.id = h.parent_id)
UNION ALL
SELECT 'commit ' || h.id, 'commit ' || h.second_parent_id FROM commits h
WHERE h.id > :after AND h.id <= :upto AND h.second_parent_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM commits t WHERE t.id = h.second_parent_id)
UNION ALL
SELECT 'commit ' || h.id, 'commit ' || h.target_id FROM commits h
WHERE h.id > :after AND h.id <= :upto AND h.target_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM commits t WHERE t.id = h.target_id)
UNION ALL
SELECT 'move ' || h.id, 'commit ' || h.old_commit_id FROM moves h
WHERE h.id > :after AND h.id <= :upto AND h.old_commit_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM commits t WHERE t.id = h.old_commit_id)
UNION ALL
SELECT 'move ' || h.id, 'commit ' || h.new_commit_id FROM moves h
WHERE h.id > :after AND h.id <= :upto AND h.new_commit_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM commits t WHERE t.id = h.new_commit_id)
UNION ALL
SELECT 'message ' || h.id, 'commit ' || h.commit_id FROM messages h
WHERE h.id > :after AND h.id <= :upto AND h.commit_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM commits t WHERE t.id = h.commit_id)
UNION ALL
SELECT 'effort ' || h.id, 'run ' || h.run_id FROM efforts h
WHERE h.id > :after AND h.id <= :upto AND h.run_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM runs t WHERE t.id = h.run_id);

-- name: ordinal_gaps
-- Tasks whose efforts are not numbered 1 to N.
SELECT task_id, count(*), max(ordinal) FROM efforts GROUP BY task_id HAVING count(*) <> max(ordinal);

-- name: lost_holders
-- Agents that hold an effort that is finished.
SELECT a.id, e.id FROM agents a JOIN efforts e ON e.id = a.effort_id WHERE e.lifecycle = 'finished';

-- name: strayed_leases
-- Efforts that somebody has a lease on although they are not active.
SELECT id, lifecycle, lease_owner FROM efforts
WHERE (lease_owner IS NOT NULL OR lease_expires_at IS NOT NULL) AND lifecycle <> 'active';

-- name: strayed_sessions
-- Sessions that serve an effort of another task.
SELECT s.id, s.task_id, e.task_id FROM sessions s JOIN efforts e ON e.id = s.effort_id
WHERE s.task_id <> e.task_id;

-- name: strayed_messages
-- Messages of a page whose role is not that of their commit.
SELECT m.id FROM messages m JOIN commits c ON c.id = m.commit_id
WHERE m.id > :after AND m.id <= :upto AND m.role <> c.role;

-- name: miscounted
-- Budgets that do not say what their sessions, those that continue them and all below have used.
WITH RECURSIVE below (top, id, parent_id) AS (
    SELECT s.id, s.id, s.parent_session_id FROM budgets b JOIN sessions s ON s.id = b.session_id
    UNION
    SELECT b.top, s.id, s.parent_session_id
    FROM below b
    JOIN sessions s ON s.parent_session_id = b.id
                    OR (s.prev_session_id = b.id AND s.root_session_id <> s.id
                        AND s.parent_session_id IS NOT DISTINCT FROM b.parent_id)
), used (top, tokens, cost_usd) AS (
    SELECT b.top, sum(u.input_tokens + u.output_tokens + u.cache_read_tokens + u.cache_write_tokens),
           sum(coalesce(u.cost_usd, u.estimated_usd))
    FROM below b JOIN usage u ON u.session_id = b.id GROUP BY b.top
)
SELECT b.session_id FROM budgets b LEFT JOIN used u ON u.top = b.session_id
WHERE b.spent_tokens <> coalesce(u.tokens, 0) OR abs(b.spent_cost_usd - coalesce(u.cost_usd, 0.0)) > 0.000001
ORDER BY b.session_id;

-- name: counts
-- How much there is.
SELECT (SELECT count(*) FROM projects), (SELECT count(*) FROM tasks), (SELECT count(*) FROM efforts),
       (SELECT count(*) FROM sessions), (SELECT count(*) FROM messages), (SELECT count(*) FROM agents),
       (SELECT count(*) FROM commits), (SELECT count(*) FROM blobs), (SELECT count(*) FROM branches),
       (SELECT count(*) FROM events), (SELECT count(*) FROM tombstones);

-- name: mistimed
-- Sessions whose use by time is not what they have used.
SELECT session_id
FROM (SELECT session_id, input_tokens + output_tokens + cache_read_tokens + cache_write_tokens AS tokens,
             coalesce(cost_usd, estimated_usd, 0.0) AS usd FROM usage
      UNION ALL
      SELECT session_id, -(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens),
             -(coalesce(cost_usd, 0.0) + coalesce(estimated_usd, 0.0)) FROM usage_times) AS both_ways
GROUP BY session_id HAVING sum(tokens) <> 0 OR abs(sum(usd)) > 0.000001 ORDER BY session_id;
