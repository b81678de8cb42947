-- name: archive
-- Hide a session from lists, or list it again.
UPDATE sessions SET archived_at = :archived_at WHERE id = :id;

-- name: below
-- A session and all below it, with whether each has ended and whether somebody works on its effort.
WITH RECURSIVE below (id) AS (
    SELECT CAST(:id AS BIGINT)
    UNION
    SELECT s.id FROM sessions s JOIN below b ON s.parent_session_id = b.id
)
SELECT s.id, s.effort_id, s.branch, s.ended_at IS NOT NULL, s.purged_at IS NOT NULL, e.lease_owner IS NOT NULL
FROM below b JOIN sessions s ON s.id = b.id JOIN efforts e ON e.id = s.effort_id
ORDER BY s.id;

-- name: below_run
-- The sessions of a run's lines and all below them.
WITH RECURSIVE below (id) AS (
    SELECT s.id FROM efforts e JOIN sessions s ON s.effort_id = e.id WHERE e.run_id = :run_id
    UNION
    SELECT s.id FROM sessions s JOIN below b ON s.parent_session_id = b.id
)
SELECT s.id, s.effort_id, s.branch, s.ended_at IS NOT NULL, s.purged_at IS NOT NULL, e.lease_owner IS NOT NULL
FROM below b JOIN sessions s ON s.id = b.id JOIN efforts e ON e.id = s.effort_id
ORDER BY s.id;

-- name: empty_session
-- Remove what a session says of itself. Its numbers stay.
UPDATE sessions SET purged_at = :now, title = NULL, notes = NULL, dehydration_payload = NULL, report = NULL,
                    loaded_files = NULL
WHERE id = :id;

-- name: empty_discoveries
-- Remove a few of the paths that a session came to.
DELETE FROM discoveries WHERE session_id = :id
    AND path IN (SELECT d.path FROM discoveries d WHERE d.session_id = :id ORDER BY d.path LIMIT :limit)
RETURNING 1;

-- name: empty_refused_calls
-- Remove a few of the calls that a session was not allowed to make.
DELETE FROM refused_calls WHERE session_id = :id AND (subject, name, key) IN (
    SELECT r.subject, r.name, r.key FROM refused_calls r WHERE r.session_id = :id
    ORDER BY r.subject, r.name, r.key LIMIT :limit
)
RETURNING 1;

-- name: empty_pointers
-- Remove what a session was spawned for.
UPDATE spawn_pointers SET purpose = :purged, display_name = NULL WHERE child_session_id = :id;

-- name: has_texts
-- Whether a session of an effort still has its texts.
SELECT 1 FROM sessions WHERE effort_id = :effort_id AND purged_at IS NULL LIMIT 1;

-- name: empty_effort
-- Remove the texts of an effort.
UPDATE efforts SET prompt = CASE WHEN prompt IS NOT NULL THEN :purged END,
                   output_content = CASE WHEN output_content IS NOT NULL THEN :purged END,
                   reason = NULL, metadata = NULL, discovered_directives = NULL, discovered_directories = NULL,
                   changes = NULL, report_file = NULL
WHERE id = :effort_id AND lifecycle = 'finished';

-- name: empty_phases
-- Remove what was said about the phases of an effort.
UPDATE phase_history SET proof = NULL, reason = NULL WHERE effort_id = :effort_id;

-- name: empty_notices
-- Remove the texts of notices about an effort.
UPDATE notices SET text = :purged WHERE effort_id = :effort_id;

-- name: empty_run
-- Remove the texts of a run.
UPDATE runs SET purged_at = :now, name = :purged, reason = NULL WHERE id = :id;

-- name: empty_findings
-- Remove the texts of what a run's reviews found.
UPDATE findings SET text = :purged, file = NULL WHERE run_id = :id;

-- name: begin
-- A branch whose contents are to be removed.
INSERT INTO purges (branch, purged_by, purged_at, reason) VALUES (:branch, :purged_by, :purged_at, :reason)
ON CONFLICT (branch) DO NOTHING;

-- name: next
-- The next branch whose contents are to be removed.
SELECT branch, (SELECT count(*) FROM purges) FROM purges ORDER BY purged_at, branch LIMIT 1;

-- name: find
-- Who removes the contents of a branch, when and why.
SELECT purged_by, purged_at, reason FROM purges WHERE branch = :branch;

-- name: finish
-- The contents of a branch are removed.
DELETE FROM purges WHERE branch = :branch;

-- name: session_of
-- The session of a branch.
SELECT id, effort_id, created_at, ended_at FROM sessions WHERE branch = :branch;

-- name: spoken
-- The places of a session's messages, by segment.
SELECT c.segment_id, min(c.seq), max(c.seq) FROM messages m JOIN commits c ON c.id = m.commit_id
WHERE m.session_id = :id GROUP BY c.segment_id;

-- name: spoken_by_others
-- How far into a part of a segment the messages of sessions reach that still have their texts.
SELECT max(c.seq) FROM commits c JOIN messages m ON m.commit_id = c.id JOIN sessions s ON s.id = m.session_id
WHERE c.segment_id = :segment_id AND c.seq BETWEEN :first AND :last AND s.id <> :id AND s.purged_at IS NULL;

-- name: other_heads
-- Where the branches stand that nobody has purged.
SELECT c.segment_id, c.seq FROM branches b JOIN commits c ON c.id = b.commit_id
WHERE b.name NOT IN (SELECT branch FROM purges)
  AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.branch = b.name AND s.purged_at IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.branch = b.name AND r.purged_at IS NOT NULL);

-- name: bases
-- Where each segment grows out of another.
SELECT id, base_segment_id, base_seq FROM segments WHERE base_segment_id IS NOT NULL;

-- name: linked
-- How far into a segment other segments point. CROSS JOIN, because SQLite keeps its order: all commits are read once, and
-- the few that point somewhere are looked up by id.
SELECT max(t.seq) FROM (
    SELECT target_id AS linked_id, segment_id, seq FROM commits WHERE target_id IS NOT NULL
    UNION ALL
    SELECT second_parent_id, segment_id, seq FROM commits WHERE second_parent_id IS NOT NULL
) c CROSS JOIN commits t
WHERE t.id = c.linked_id AND t.segment_id = :segment_id AND c.segment_id <> t.segment_id
  AND NOT EXISTS (SELECT 1 FROM purged_spans p WHERE p.segment_id = c.segment_id AND c.seq BETWEEN p.first_seq AND p.last_seq);

-- name: purged_parts
-- The parts of a segment that were purged.
SELECT first_seq, last_seq FROM purged_spans WHERE segment_id = :segment_id ORDER BY first_seq;

-- name: commits
-- The next commits of a part of a segment.
SELECT c.id, c.hash, c.seq, c.metadata, c.blob_id, b.hash, b.size, b.codec
FROM commits c JOIN blobs b ON b.id = c.blob_id
WHERE c.segment_id = :segment_id AND c.seq BETWEEN :first AND :last ORDER BY c.seq LIMIT :limit;

-- name: last_commit
-- The newest commit.
SELECT coalesce(max(id), 0) FROM commits;

-- name: blobs_of
-- The next contents of a part of a segment, with their places.
SELECT seq, blob_id FROM commits
WHERE segment_id = :segment_id AND seq BETWEEN :first AND :last ORDER BY seq LIMIT :limit;

-- name: carriers
-- Where a page of all commits carries some contents, except in purged parts of the history.
SELECT c.blob_id, c.segment_id, min(c.seq), max(c.seq) FROM commits c
WHERE c.id > :after AND c.id <= :upto AND c.blob_id IN (SELECT value FROM json_each(:ids)) AND NOT EXISTS (
    SELECT 1 FROM purged_spans p WHERE p.segment_id = c.segment_id AND c.seq BETWEEN p.first_seq AND p.last_seq
)
GROUP BY c.blob_id, c.segment_id;

-- name: empty_metadata
-- Remove what is said about a commit.
UPDATE commits SET metadata = :metadata WHERE id = :id;

-- name: empty_tags
-- Remove the tags of a commit.
DELETE FROM tags WHERE commit_id = :id;

-- name: bury_span
-- Remember a part of the history that was purged.
INSERT INTO purged_spans (segment_id, first_seq, last_seq) VALUES (:segment_id, :first, :last) ON CONFLICT DO NOTHING;

-- name: events_of_session
-- The next events of a session that say something.
SELECT id FROM events WHERE session_id = :id AND data IS NOT NULL AND id > :after ORDER BY id LIMIT :limit;

-- name: events_of_effort
-- The next events of an effort that say something.
SELECT id FROM events WHERE effort_id = :id AND data IS NOT NULL ORDER BY id LIMIT :limit;

-- name: empty_events
-- Remove what events say.
UPDATE events SET data = NULL WHERE id IN (SELECT value FROM json_each(:ids));

-- name: replies
-- A page of the kept replies since an instant, oldest first.
SELECT at_ms, principal, key, reply FROM idempotency
WHERE at_ms >= :since_ms AND (at_ms, principal, key) > (:at_ms, :principal, :key)
ORDER BY at_ms, principal, key LIMIT :limit;

-- name: is_buried
-- Whether a content was purged.
SELECT 1 FROM tombstones WHERE subject = 'blob' AND hash = :hash;

-- name: delete_reply
-- Remove a kept reply.
DELETE FROM idempotency WHERE principal = :principal AND key = :key;

-- name: image_names
-- The metadata of commits that name images.
SELECT metadata FROM commits WHERE metadata LIKE '%"images":[%';

-- name: image_hashes
-- All images.
SELECT hash FROM images;

-- name: delete_image
-- Remove an image.
DELETE FROM images WHERE hash = :hash;

-- name: old_sessions
-- The oldest sessions that ended before an instant, that nobody archived or purged, and that nobody works on. A session
-- that another spawned goes with it.
SELECT s.id FROM sessions s JOIN efforts e ON e.id = s.effort_id
WHERE s.ended_at < :before AND s.ended_at IS NOT NULL AND s.purged_at IS NULL AND s.archived_at IS NULL
  AND s.parent_session_id IS NULL AND e.lifecycle = 'finished' AND e.lease_owner IS NULL
  AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = e.run_id AND (r.finished_at IS NULL OR r.archived_at IS NOT NULL))
  AND NOT EXISTS (SELECT 1 FROM sessions o WHERE o.root_session_id = s.root_session_id AND o.ended_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM sessions o WHERE o.root_session_id = s.root_session_id AND o.archived_at IS NOT NULL)
ORDER BY s.ended_at LIMIT :limit;

-- name: old_runs
-- The oldest runs that finished before an instant, and that nobody archived, purged or attends.
SELECT r.id FROM runs r
WHERE r.finished_at < :before AND r.purged_at IS NULL AND r.archived_at IS NULL AND r.attender IS NULL
  AND NOT EXISTS (SELECT 1 FROM efforts e JOIN sessions s ON s.effort_id = e.id
                  WHERE e.run_id = r.id AND (s.ended_at IS NULL OR s.archived_at IS NOT NULL))
  AND NOT EXISTS (SELECT 1 FROM efforts e WHERE e.run_id = r.id AND e.lease_owner IS NOT NULL)
ORDER BY r.finished_at LIMIT :limit;

-- name: announced
-- When the first purge by a rule was announced.
SELECT created_at FROM notices WHERE dedupe_key = :key;
