-- name: rank_texts
-- The texts that match, best first. Only the best are looked up and filtered.
SELECT d.id, d.unit_id, d.session_id, d.effort_id, d.project_id, d.kind, d.time_ms, d.is_below, w.rank
FROM (SELECT rowid, rank FROM words
      WHERE words MATCH :match
        AND (:required IS NULL OR +rowid IN (SELECT rowid FROM words WHERE words MATCH :required))
      ORDER BY rank LIMIT :top) w
JOIN docs d ON d.id = w.rowid
WHERE (:project_id IS NULL OR d.project_id = :project_id)
  AND (:session_id IS NULL OR d.session_id = :session_id)
  AND (:kind IS NULL OR d.kind = :kind)
  AND (:role IS NULL OR d.role = :role)
  AND (:agent IS NULL OR d.driver = :agent OR d.agent_id = :agent)
  AND (:since_ms IS NULL OR d.time_ms >= :since_ms)
  AND (:sessions IS NULL OR d.session_id IN (SELECT value FROM json_each(:sessions)))
ORDER BY w.rank, d.id LIMIT :limit;

-- name: rank_units
-- The units that match, best first, each with the first of its texts.
SELECT d.id, u.id, d.session_id, d.effort_id, d.project_id, d.kind, d.time_ms, d.is_below, w.rank
FROM (SELECT rowid, rank FROM unit_words
      WHERE unit_words MATCH :match
        AND (:required IS NULL OR +rowid IN (SELECT rowid FROM unit_words WHERE unit_words MATCH :required))
      ORDER BY rank LIMIT :top) w
JOIN units u ON u.id = w.rowid
JOIN docs d ON d.id = (SELECT min(f.id) FROM docs f WHERE f.session_id = u.session_id AND f.unit_id = u.id)
WHERE (:project_id IS NULL OR d.project_id = :project_id)
  AND (:session_id IS NULL OR d.session_id = :session_id)
  AND (:kind IS NULL OR d.kind = :kind)
  AND (:role IS NULL OR d.role = :role)
  AND (:agent IS NULL OR d.driver = :agent OR d.agent_id = :agent)
  AND (:since_ms IS NULL OR d.time_ms >= :since_ms)
  AND (:sessions IS NULL OR d.session_id IN (SELECT value FROM json_each(:sessions)))
ORDER BY w.rank, d.id LIMIT :limit;

-- name: rank_tools
-- What tools were given and returned, best first.
SELECT d.id, d.unit_id, d.session_id, d.effort_id, d.project_id, d.kind, d.time_ms, d.is_below, w.rank
FROM (SELECT rowid, rank FROM tool_words
      WHERE tool_words MATCH :match
        AND (:required IS NULL OR +rowid IN (SELECT rowid FROM tool_words WHERE tool_words MATCH :required))
      ORDER BY rank LIMIT :top) w
JOIN docs d ON d.id = w.rowid
WHERE (:project_id IS NULL OR d.project_id = :project_id)
  AND (:session_id IS NULL OR d.session_id = :session_id)
  AND (:kind IS NULL OR d.kind = :kind)
  AND (:role IS NULL OR d.role = :role)
  AND (:agent IS NULL OR d.driver = :agent OR d.agent_id = :agent)
  AND (:since_ms IS NULL OR d.time_ms >= :since_ms)
  AND (:sessions IS NULL OR d.session_id IN (SELECT value FROM json_each(:sessions)))
ORDER BY w.rank, d.id LIMIT :limit;

-- name: scan_texts
-- Texts that match, of words that too many have to rank them: the last ones written, the shortest first.
SELECT d.id, d.unit_id, d.session_id, d.effort_id, d.project_id, d.kind, d.time_ms, d.is_below, -1000.0 / (1000 + d.size) AS rank
FROM (SELECT rowid FROM words WHERE words MATCH :match ORDER BY rowid DESC LIMIT :top) w
JOIN docs d ON d.id = w.rowid
WHERE (:project_id IS NULL OR d.project_id = :project_id)
  AND (:session_id IS NULL OR d.session_id = :session_id)
  AND (:kind IS NULL OR d.kind = :kind)
  AND (:role IS NULL OR d.role = :role)
  AND (:agent IS NULL OR d.driver = :agent OR d.agent_id = :agent)
  AND (:since_ms IS NULL OR d.time_ms >= :since_ms)
  AND (:sessions IS NULL OR d.session_id IN (SELECT value FROM json_each(:sessions)))
ORDER BY rank, d.id DESC LIMIT :limit;

-- name: scan_units
-- The same for units.
SELECT d.id, u.id, d.session_id, d.effort_id, d.project_id, d.kind, d.time_ms, d.is_below, -1000.0 / (1000 + u.size) AS rank
FROM (SELECT rowid FROM unit_words WHERE unit_words MATCH :match ORDER BY rowid DESC LIMIT :top) w
JOIN units u ON u.id = w.rowid
JOIN docs d ON d.id = (SELECT min(f.id) FROM docs f WHERE f.session_id = u.session_id AND f.unit_id = u.id)
WHERE (:project_id IS NULL OR d.project_id = :project_id)
  AND (:session_id IS NULL OR d.session_id = :session_id)
  AND (:kind IS NULL OR d.kind = :kind)
  AND (:role IS NULL OR d.role = :role)
  AND (:agent IS NULL OR d.driver = :agent OR d.agent_id = :agent)
  AND (:since_ms IS NULL OR d.time_ms >= :since_ms)
  AND (:sessions IS NULL OR d.session_id IN (SELECT value FROM json_each(:sessions)))
ORDER BY rank, d.id DESC LIMIT :limit;

-- name: scan_tools
-- The same for what tools were given and returned.
SELECT d.id, d.unit_id, d.session_id, d.effort_id, d.project_id, d.kind, d.time_ms, d.is_below, -1000.0 / (1000 + d.size) AS rank
FROM (SELECT rowid FROM tool_words WHERE tool_words MATCH :match ORDER BY rowid DESC LIMIT :top) w
JOIN docs d ON d.id = w.rowid
WHERE (:project_id IS NULL OR d.project_id = :project_id)
  AND (:session_id IS NULL OR d.session_id = :session_id)
  AND (:kind IS NULL OR d.kind = :kind)
  AND (:role IS NULL OR d.role = :role)
  AND (:agent IS NULL OR d.driver = :agent OR d.agent_id = :agent)
  AND (:since_ms IS NULL OR d.time_ms >= :since_ms)
  AND (:sessions IS NULL OR d.session_id IN (SELECT value FROM json_each(:sessions)))
ORDER BY rank, d.id DESC LIMIT :limit;

-- name: newest_texts
-- The newest texts that pass the filters, of a query that has nothing else.
SELECT d.id, d.unit_id, d.session_id, d.effort_id, d.project_id, d.kind, d.time_ms, d.is_below, 0.0
FROM docs d
WHERE (:project_id IS NULL OR d.project_id = :project_id)
  AND (:session_id IS NULL OR d.session_id = :session_id)
  AND (:kind IS NULL OR d.kind = :kind)
  AND (:kind IS NOT NULL OR d.kind NOT IN ('command', 'output', 'error', 'edit', 'path'))
  AND (:role IS NULL OR d.role = :role)
  AND (:agent IS NULL OR d.driver = :agent OR d.agent_id = :agent)
  AND (:since_ms IS NULL OR d.time_ms >= :since_ms)
  AND (:sessions IS NULL OR d.session_id IN (SELECT value FROM json_each(:sessions)))
ORDER BY d.time_ms DESC, d.id DESC LIMIT :limit;

-- name: count_texts
-- In how many texts a word is, as far as somebody counts.
SELECT count(*) FROM (SELECT rowid FROM words WHERE words MATCH :match LIMIT :most);

-- name: count_tools
-- The same among what tools were given and returned.
SELECT count(*) FROM (SELECT rowid FROM tool_words WHERE tool_words MATCH :match LIMIT :most);

-- name: first_text
-- A text that has a word.
SELECT rowid FROM words WHERE words MATCH :match LIMIT 1;

-- name: similar_words
-- The words between two, as the index has them, with the number of texts.
SELECT term, doc FROM vocabulary WHERE term >= :first AND term < :last;

-- name: sessions_of_names
-- The sessions that have a path, by a part of it.
SELECT DISTINCT l.session_id FROM name_grams g JOIN names n ON n.id = g.rowid JOIN name_docs l ON l.name_id = n.id
WHERE name_grams MATCH :match AND n.kind = :kind AND l.session_id IS NOT NULL LIMIT :most;

-- name: sessions_of_short_names
-- The same by a part that is too short for the index.
SELECT DISTINCT l.session_id FROM names n JOIN name_docs l ON l.name_id = n.id
WHERE n.kind = :kind AND instr(lower(n.text), lower(:part)) > 0 AND l.session_id IS NOT NULL LIMIT :most;

-- name: docs_of_names
-- The texts that have a path, an error line or an identifier, by a part of it; the newest first.
SELECT d.id, d.unit_id, d.session_id, d.effort_id, d.project_id, d.kind, d.time_ms, d.is_below, 0.0
FROM name_grams g JOIN names n ON n.id = g.rowid JOIN name_docs l ON l.name_id = n.id JOIN docs d ON d.id = l.doc_id
WHERE name_grams MATCH :match
  AND (:project_id IS NULL OR d.project_id = :project_id)
  AND (:session_id IS NULL OR d.session_id = :session_id)
  AND (:kind IS NULL OR d.kind = :kind)
  AND (:role IS NULL OR d.role = :role)
  AND (:agent IS NULL OR d.driver = :agent OR d.agent_id = :agent)
  AND (:since_ms IS NULL OR d.time_ms >= :since_ms)
  AND (:sessions IS NULL OR d.session_id IN (SELECT value FROM json_each(:sessions)))
ORDER BY d.id DESC LIMIT :limit;

-- name: docs_of_signature
-- The commands that failed with an error of this signature, the newest first.
SELECT d.id, d.unit_id, d.session_id, d.effort_id, d.project_id, d.kind, d.time_ms, d.is_below, 0.0
FROM commands c JOIN docs d ON d.id = c.id
WHERE c.signature = :signature
  AND (:project_id IS NULL OR d.project_id = :project_id)
  AND (:session_id IS NULL OR d.session_id = :session_id)
  AND (:kind IS NULL OR d.kind = :kind)
  AND (:role IS NULL OR d.role = :role)
  AND (:agent IS NULL OR d.driver = :agent OR d.agent_id = :agent)
  AND (:since_ms IS NULL OR d.time_ms >= :since_ms)
  AND (:sessions IS NULL OR d.session_id IN (SELECT value FROM json_each(:sessions)))
ORDER BY d.id DESC LIMIT :limit;

-- name: exit_statuses
-- How some commands ended.
SELECT c.id, c.exit_status, c.is_error FROM json_each(:ids) chosen JOIN commands c ON c.id = chosen.value;

-- name: sessions_having
-- The sessions that have a word, and in how many units; of a common word, only as far as somebody counts.
SELECT u.session_id, count(*)
FROM (SELECT rowid AS id FROM unit_words WHERE unit_words MATCH :match LIMIT :most) w JOIN units u ON u.id = w.id
GROUP BY u.session_id;

-- name: count_sessions
-- How many sessions the index has read.
SELECT count(*) FROM sessions;
