-- Goose's own tables at schema 15, without the columns that nobody reads.
CREATE TABLE schema_version (version INTEGER PRIMARY KEY);
INSERT INTO schema_version VALUES (15);
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, session_type TEXT, working_dir TEXT, created_at TIMESTAMP,
  updated_at TIMESTAMP, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER, accumulated_cost REAL,
  model_config_json TEXT, parent_session_id TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL, role TEXT NOT NULL,
  content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, metadata_json TEXT);
CREATE INDEX idx_messages_session ON messages(session_id);
CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, created_timestamp INTEGER, model TEXT,
  input_tokens INTEGER, output_tokens INTEGER, total_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER,
  cost REAL, cost_source TEXT, is_compaction INTEGER);
INSERT INTO sessions VALUES ('20251101_1', 'Wrong total', '', 'user', '/home/dev/shop', '2025-11-01 10:00:00', '2025-11-01 10:01:00', NULL, NULL, NULL, '{"model_name":"model-g"}', NULL);
INSERT INTO messages VALUES (1, 'msg_20251101_1_1', '20251101_1', 'user', '[{"type":"text","text":"Why is the total wrong?"}]', 1761991205, '{"userVisible":true,"agentVisible":true}');
INSERT INTO messages VALUES (2, 'msg_20251101_1_2', '20251101_1', 'assistant', '[{"type":"thinking","thinking":"The tests may say it.","signature":""},{"type":"text","text":"I run the tests."},{"type":"toolRequest","id":"call_1","toolCall":{"status":"success","value":{"name":"developer__shell","arguments":{"command":"pytest"}}}}]', 1761991206, '{"userVisible":true,"agentVisible":true}');
INSERT INTO messages VALUES (3, 'msg_20251101_1_3', '20251101_1', 'user', '[{"type":"toolResponse","id":"call_1","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"1 failed"}],"isError":true}}}]', 1761991206, '{"userVisible":true,"agentVisible":true}');
INSERT INTO messages VALUES (4, 'msg_20251101_1_4', '20251101_1', 'assistant', '[{"type":"text","text":"It rounds before the tax."}]', 1761991208, '{"userVisible":true,"agentVisible":true}');
INSERT INTO messages VALUES (5, 'msg_20251101_1_5', '20251101_1', 'user', '[{"type":"text","text":"The user asked about the total."}]', 1761991220, '{"userVisible":false,"agentVisible":true}');
INSERT INTO messages VALUES (6, 'msg_20251101_1_6', '20251101_1', 'user', '[{"type":"text","text":"Fix it."}]', 1761991230, '{"userVisible":true,"agentVisible":true}');
INSERT INTO messages VALUES (7, 'msg_20251101_1_7', '20251101_1', 'assistant', '[{"type":"text","text":"Fixed."}]', 1761991231, '{"userVisible":true,"agentVisible":true}');
INSERT INTO usage_ledger (session_id, created_timestamp, model, input_tokens, output_tokens, total_tokens, cache_read_tokens, cache_write_tokens, cost, cost_source, is_compaction) VALUES ('20251101_1', 1761991206000, 'model-g', 1000, 20, 1020, 400, 0, 0.01, 'provider', 0);
INSERT INTO usage_ledger (session_id, created_timestamp, model, input_tokens, output_tokens, total_tokens, cache_read_tokens, cache_write_tokens, cost, cost_source, is_compaction) VALUES ('20251101_1', 1761991208000, 'model-g', 1100, 30, 1130, 0, 0, 0.02, 'provider', 0);
INSERT INTO usage_ledger (session_id, created_timestamp, model, input_tokens, output_tokens, total_tokens, cache_read_tokens, cache_write_tokens, cost, cost_source, is_compaction) VALUES ('20251101_1', 1761991219000, 'model-g', 1200, 40, 1240, 0, 0, 0.03, 'provider', 1);
INSERT INTO usage_ledger (session_id, created_timestamp, model, input_tokens, output_tokens, total_tokens, cache_read_tokens, cache_write_tokens, cost, cost_source, is_compaction) VALUES ('20251101_1', 1761991231000, 'model-g', 300, 10, 310, 0, 0, 0.004, 'provider', 0);
INSERT INTO sessions VALUES ('20251101_2', 'Look into the tax', '', 'sub_agent', '/home/dev/shop', '2025-11-01 10:02:00', '2025-11-01 10:03:00', NULL, NULL, NULL, '{"model_name":"model-g"}', '20251101_1');
INSERT INTO messages VALUES (8, 'msg_20251101_2_8', '20251101_2', 'user', '[{"type":"text","text":"Look into the tax."}]', 1761991321, '{"userVisible":true,"agentVisible":true}');
INSERT INTO messages VALUES (9, 'msg_20251101_2_9', '20251101_2', 'assistant', '[{"type":"text","text":"It is 19 %."}]', 1761991322, '{"userVisible":true,"agentVisible":true}');
INSERT INTO usage_ledger (session_id, created_timestamp, model, input_tokens, output_tokens, total_tokens, cache_read_tokens, cache_write_tokens, cost, cost_source, is_compaction) VALUES ('20251101_2', 1761991322000, 'model-g', 200, 8, 208, 0, 0, 0.001, 'provider', 0);
INSERT INTO sessions VALUES ('20251101_104000', 'Orders', '', 'user', '/home/dev/shop', '2025-11-01 10:40:00', '2025-11-01 10:41:00', NULL, NULL, NULL, '{"model_name":"model-g"}', NULL);
INSERT INTO messages VALUES (10, 'msg_20251101_104000_10', '20251101_104000', 'user', '[{"type":"text","text":"List the open orders."}]', 1761993605, '{"userVisible":true,"agentVisible":true}');
INSERT INTO messages VALUES (11, 'msg_20251101_104000_11', '20251101_104000', 'assistant', '[{"type":"text","text":"There are three."},{"type":"toolRequest","id":"call_9","toolCall":{"status":"success","value":{"name":"developer__shell","arguments":{"command":"ls"}}}}]', 1761993605, '{"userVisible":true,"agentVisible":true}');
INSERT INTO messages VALUES (12, 'msg_20251101_104000_12', '20251101_104000', 'user', '[{"type":"toolResponse","id":"call_9","toolResult":{"status":"success","value":[{"type":"text","text":"a b c"}]}}]', 1761993605, '{"userVisible":true,"agentVisible":true}');
