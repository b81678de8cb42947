-- name: get_meta
-- One fact about the index.
SELECT value FROM meta WHERE name = :name;

-- name: put_meta
-- Write a fact about the index.
INSERT INTO meta (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: last_message
-- How far the messages of a session were read.
SELECT last_message FROM sessions WHERE id = :session_id;

-- name: put_session
-- How far the messages of a session were read.
INSERT INTO sessions (id, last_message) VALUES (:session_id, :last_message)
ON CONFLICT (id) DO UPDATE SET last_message = excluded.last_message;

-- name: sessions_after
-- The sessions that the index has read, in their order.
SELECT id FROM sessions WHERE id > :after ORDER BY id LIMIT :limit;

-- name: forget_session
-- A session that is no longer there was not read.
DELETE FROM sessions WHERE id = :session_id;

-- name: insert_doc
-- A text that can be found.
INSERT INTO docs (source, kind, role, session_id, effort_id, project_id, driver, agent_id, time_ms, message_id, unit_id,
                  is_below, is_passing, codec, size, data)
VALUES (:source, :kind, :role, :session_id, :effort_id, :project_id, :driver, :agent_id, :time_ms, :message_id, :unit_id,
        :is_below, :is_passing, :codec, :size, :data);

-- name: doc_of_source
-- The text that a source had when it was last read.
SELECT id, codec, size, data FROM docs WHERE source = :source;

-- name: docs
-- Some texts.
SELECT d.id, d.source, d.kind, d.role, d.session_id, d.effort_id, d.project_id, d.driver, d.agent_id, d.time_ms,
       d.message_id, d.unit_id, d.is_below, d.codec, d.size, d.data
FROM json_each(:ids) chosen JOIN docs d ON d.id = chosen.value ORDER BY d.id;

-- name: docs_of_session
-- The texts of a session.
SELECT id FROM docs WHERE session_id = :session_id ORDER BY id LIMIT :limit;

-- name: docs_of_effort
-- The texts of an effort that belong to none of its sessions.
SELECT id, source FROM docs WHERE effort_id = :effort_id AND session_id IS NULL ORDER BY id;

-- name: docs_of_unit
-- The texts of a unit in their order.
SELECT id FROM docs WHERE session_id = :session_id AND unit_id = :unit_id ORDER BY id;

-- name: passing_docs
-- The texts of a session that a transcript may take the place of.
SELECT id, message_id FROM docs WHERE session_id = :session_id AND is_passing = 1;

-- name: delete_doc
-- Remove a text.
DELETE FROM docs WHERE id = :id;

-- name: open_unit
-- The last unit of a session.
SELECT id, kind, size, messages, is_written FROM units WHERE session_id = :session_id ORDER BY id DESC LIMIT 1;

-- name: insert_unit
-- Begin a unit.
INSERT INTO units (session_id, kind, size, messages, is_written) VALUES (:session_id, :kind, 0, 0, 0);

-- name: grow_unit
-- A unit has more texts.
UPDATE units SET size = size + :size, messages = messages + :messages WHERE id = :id;

-- name: units_of_session
-- The units of a session.
SELECT id FROM units WHERE session_id = :session_id ORDER BY id;

-- name: unit
-- One unit.
SELECT id, session_id, kind, is_written FROM units WHERE id = :id;

-- name: mark_unit
-- Whether a unit has its words.
UPDATE units SET is_written = :is_written WHERE id = :id;

-- name: delete_unit
-- Remove a unit.
DELETE FROM units WHERE id = :id;

-- name: insert_words
-- The words of a text.
INSERT INTO words (rowid, title, prompt, decision, answer, parts, scope)
VALUES (:id, :title, :prompt, :decision, :answer, :parts, :scope);

-- name: delete_words
-- Remove the words of a text, which have to be given again.
INSERT INTO words (words, rowid, title, prompt, decision, answer, parts, scope)
VALUES ('delete', :id, :title, :prompt, :decision, :answer, :parts, :scope);

-- name: insert_unit_words
-- The words of a unit.
INSERT INTO unit_words (rowid, title, prompt, decision, answer, parts, scope)
VALUES (:id, :title, :prompt, :decision, :answer, :parts, :scope);

-- name: delete_unit_words
-- Remove the words of a unit, which have to be given again.
INSERT INTO unit_words (unit_words, rowid, title, prompt, decision, answer, parts, scope)
VALUES ('delete', :id, :title, :prompt, :decision, :answer, :parts, :scope);

-- name: insert_tool_words
-- The words of what a tool was given or returned.
INSERT INTO tool_words (rowid, text, parts, scope) VALUES (:id, :text, :parts, :scope);

-- name: delete_tool_words
-- Remove the words of what a tool was given or returned, which have to be given again.
INSERT INTO tool_words (tool_words, rowid, text, parts, scope) VALUES ('delete', :id, :text, :parts, :scope);

-- name: count_scope
-- A scope has more texts, or fewer.
INSERT INTO scopes (token, docs) VALUES (:token, :docs) ON CONFLICT (token) DO UPDATE SET docs = docs + excluded.docs;

-- name: scope_size
-- How many texts a scope has.
SELECT docs FROM scopes WHERE token = :token;

-- name: insert_command
-- A command line that a tool was given.
INSERT INTO commands (id, session_id, effort_id, project_id, message_id, call_id, tool, command, cwd, time_ms)
VALUES (:id, :session_id, :effort_id, :project_id, :message_id, :call_id, :tool, :command, :cwd, :time_ms);

-- name: running_command
-- The newest command of a session that has not ended, of one call if that is known.
SELECT id, command FROM commands
WHERE session_id = :session_id AND is_error IS NULL AND (:call_id IS NULL OR call_id = :call_id)
ORDER BY id DESC LIMIT 1;

-- name: end_command
-- How a command ended.
UPDATE commands SET exit_status = :exit_status, is_error = :is_error, error_line = :error_line, signature = :signature,
                    result_message_id = :message_id
WHERE id = :id;

-- name: fix_commands
-- The same command has succeeded now. It says more than another form of it that succeeded before.
UPDATE commands SET fixed_by = :id
WHERE session_id = :session_id AND command = :command AND is_error = 1 AND id < :id
  AND (fixed_by IS NULL OR fixed_by NOT IN (SELECT o.id FROM commands o WHERE o.command = :command));

-- name: fix_similar_commands
-- A command with the same program and first argument has succeeded now.
UPDATE commands SET fixed_by = :id
WHERE session_id = :session_id AND is_error = 1 AND fixed_by IS NULL AND id < :id
  AND substr(command || ' ', 1, length(:start)) = :start;

-- name: delete_command
-- Remove a command.
DELETE FROM commands WHERE id = :id;

-- name: find_name
-- A path or an error line.
SELECT id FROM names WHERE kind = :kind AND text = :text;

-- name: insert_name
-- Add a path or an error line.
INSERT INTO names (kind, text) VALUES (:kind, :text);

-- name: insert_grams
-- Make a path or an error line findable by any part of it.
INSERT INTO name_grams (rowid, text) VALUES (:id, :text);

-- name: link_name
-- A text has a path or an error line.
INSERT INTO name_docs (name_id, doc_id, session_id) VALUES (:name_id, :doc_id, :session_id) ON CONFLICT DO NOTHING;

-- name: names_of_doc
-- The paths and error lines of a text.
SELECT n.id, n.text FROM name_docs l JOIN names n ON n.id = l.name_id WHERE l.doc_id = :doc_id;

-- name: unlink_doc
-- A text has no paths and error lines any more.
DELETE FROM name_docs WHERE doc_id = :doc_id;

-- name: is_linked
-- Whether a text still has a path or an error line.
SELECT 1 FROM name_docs WHERE name_id = :name_id LIMIT 1;

-- name: delete_name
-- Remove a path or an error line.
DELETE FROM names WHERE id = :id;

-- name: delete_grams
-- It is found by no part of it any more.
INSERT INTO name_grams (name_grams, rowid, text) VALUES ('delete', :id, :text);

-- name: totals
-- How much the index has.
SELECT (SELECT count(*) FROM docs), (SELECT count(*) FROM units), (SELECT count(*) FROM sessions),
       (SELECT count(*) FROM commands);
