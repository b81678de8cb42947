-- name: has_words
-- Whether a text has a word.
SELECT 1 FROM words WHERE words MATCH :match AND rowid = :id;

-- name: has_unit_words
-- Whether a unit has a word.
SELECT 1 FROM unit_words WHERE unit_words MATCH :match AND rowid = :id;

-- name: has_tool_words
-- Whether what a tool was given or returned has a word.
SELECT 1 FROM tool_words WHERE tool_words MATCH :match AND rowid = :id;

-- name: count_texts
-- In how many texts a word is, as far as somebody counts.
SELECT count(*) FROM (SELECT rowid FROM words WHERE words MATCH :match LIMIT :most);

-- name: count_all
-- How many texts there are: each has one kind.
SELECT coalesce(sum(docs), 0) FROM scopes WHERE token >= 'zk' AND token < 'zl';

-- name: text_of_message
-- The text of a message of a session.
SELECT id, unit_id, kind, codec, size, data FROM docs
WHERE message_id = :message_id AND +session_id = :session_id ORDER BY id LIMIT 1;

-- name: text_of_source
-- The text of a source that is no message.
SELECT id, unit_id, kind, codec, size, data FROM docs WHERE source = :source;

-- name: worked_commands
-- The commands that match and worked, each with its newest run; the most repeated first.
SELECT c.command, count(*) AS times, max(c.time_ms) AS newest, max(c.id) AS id
FROM (SELECT rowid FROM tool_words WHERE tool_words MATCH :match ORDER BY rowid DESC LIMIT :top) w
JOIN commands c ON c.id = w.rowid
WHERE c.is_error = 0 AND (:project_id IS NULL OR c.project_id = :project_id)
GROUP BY c.command ORDER BY times DESC, newest DESC LIMIT :limit;

-- name: command
-- One run of a command.
SELECT session_id, message_id, exit_status, time_ms FROM commands WHERE id = :id;

-- name: fixed_by_signature
-- The failures with this signature after which the same command, or another form of it, succeeded, the newest first.
SELECT c.id, c.session_id, c.message_id, c.command, c.exit_status, c.error_line, f.message_id, f.time_ms, f.command
FROM commands c JOIN commands f ON f.id = c.fixed_by
WHERE c.signature = :signature AND (:project_id IS NULL OR c.project_id = :project_id)
ORDER BY c.id DESC LIMIT :limit;

-- name: fixed_by_result
-- The same for the failure whose result is a message.
SELECT c.id, c.session_id, c.message_id, c.command, c.exit_status, c.error_line, f.message_id, f.time_ms, f.command
FROM commands c JOIN commands f ON f.id = c.fixed_by
WHERE c.session_id = :session_id AND (c.result_message_id = :message_id OR c.message_id = :message_id)
ORDER BY c.id DESC LIMIT 1;

-- name: steps_between
-- What a session ran and edited between two of its messages, the newest first.
SELECT d.kind, d.message_id, d.codec, d.size, d.data, c.is_error
FROM docs d LEFT JOIN commands c ON c.id = d.id
WHERE +d.session_id = :session_id AND d.message_id > :first AND d.message_id < :last
  AND d.kind IN ('command', 'edit')
ORDER BY d.message_id DESC, d.id DESC LIMIT :limit;

-- name: touched_files
-- The files that some sessions touched: in how many of them, whether one edited it, and where it was last.
SELECT n.text, count(DISTINCT d.session_id) AS sessions, max(d.kind = 'edit') AS is_edited, max(d.time_ms) AS newest,
       max(d.id) AS id
FROM json_each(:sessions) chosen
CROSS JOIN name_docs l ON l.session_id = chosen.value
CROSS JOIN names n ON n.id = l.name_id
CROSS JOIN docs d ON d.id = l.doc_id
WHERE n.kind = 'path' AND d.kind IN ('edit', 'path')
GROUP BY n.id ORDER BY sessions DESC, is_edited DESC, newest DESC LIMIT :limit;

-- name: place
-- Where a text is.
SELECT session_id, message_id FROM docs WHERE id = :id;
