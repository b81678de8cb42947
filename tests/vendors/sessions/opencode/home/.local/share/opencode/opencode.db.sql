-- opencode's own tables, as 1.18.33 makes them, without the columns that nobody reads.
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, directory text NOT NULL, title text NOT NULL,
  version text NOT NULL, model text, time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL,
  data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL,
  time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
CREATE INDEX part_session_idx ON part (session_id);
INSERT INTO session VALUES ('ses_00000000000000000001', 'global', NULL, '/home/dev/shop', 'Wrong total', '1.18.33', '{"id": "model-a", "providerID": "p"}', 1761991200000, 1761991260000);
INSERT INTO message VALUES ('msg_01', 'ses_00000000000000000001', 1761991201000, 1761991202000, '{"role":"user","time":{"created":1761991201000},"agent":"build","summary":{"diffs":[]}}');
INSERT INTO part VALUES ('prt_01', 'msg_01', 'ses_00000000000000000001', 1761991201000, 1761991202000, '{"type":"text","text":"Why is the total wrong?"}');
INSERT INTO part VALUES ('prt_02', 'msg_01', 'ses_00000000000000000001', 1761991201000, 1761991202000, '{"type":"text","text":"Called the Read tool","synthetic":true}');
INSERT INTO message VALUES ('msg_02', 'ses_00000000000000000001', 1761991202000, 1761991203000, '{"role":"assistant","modelID":"model-a","providerID":"p","path":{"cwd":"/home/dev/shop","root":"/"},"cost":0.01,"tokens":{"input":100,"output":20,"reasoning":5,"cache":{"read":50,"write":0}},"time":{"created":1761991202000,"completed":1761991203000}}');
INSERT INTO part VALUES ('prt_03', 'msg_02', 'ses_00000000000000000001', 1761991202000, 1761991203000, '{"type":"step-start"}');
INSERT INTO part VALUES ('prt_04', 'msg_02', 'ses_00000000000000000001', 1761991202000, 1761991203000, '{"type":"reasoning","text":"The tests may say it.","time":{"start":1761991202000,"end":1761991203000}}');
INSERT INTO part VALUES ('prt_05', 'msg_02', 'ses_00000000000000000001', 1761991203000, 1761991204000, '{"type":"text","text":"I run the tests.","time":{"start":1761991203000,"end":1761991204000}}');
INSERT INTO part VALUES ('prt_06', 'msg_02', 'ses_00000000000000000001', 1761991204000, 1761991205000, '{"type":"tool","tool":"bash","callID":"call_1","state":{"status":"completed","input":{"command":"pytest"},"output":"1 failed\n","metadata":{"output":"1 failed\n","exit":1},"title":"pytest","time":{"start":1761991204000,"end":1761991205000}}}');
INSERT INTO part VALUES ('prt_07', 'msg_02', 'ses_00000000000000000001', 1761991205000, 1761991206000, '{"type":"step-finish","cost":0.01,"tokens":{"input":100,"output":20,"reasoning":5,"cache":{"read":50,"write":0}}}');
INSERT INTO message VALUES ('msg_03', 'ses_00000000000000000001', 1761991206000, 1761991207000, '{"role":"assistant","modelID":"model-a","providerID":"p","path":{"cwd":"/home/dev/shop","root":"/"},"cost":0.01,"tokens":{"input":100,"output":10,"reasoning":0,"cache":{"read":50,"write":0}},"time":{"created":1761991206000,"completed":1761991207000}}');
INSERT INTO part VALUES ('prt_08', 'msg_03', 'ses_00000000000000000001', 1761991206000, 1761991207000, '{"type":"tool","tool":"invalid","callID":"call_2","state":{"status":"completed","input":{"tool":"nosuch","error":"unavailable"},"output":"The arguments provided to the tool are invalid","metadata":{},"title":"Invalid Tool","time":{"start":1761991206000,"end":1761991207000}}}');
INSERT INTO part VALUES ('prt_09', 'msg_03', 'ses_00000000000000000001', 1761991207000, 1761991208000, '{"type":"tool","tool":"read","callID":"call_3","state":{"status":"error","input":{"filePath":"/x"},"error":"File not found","time":{"start":1761991207000,"end":1761991208000}}}');
INSERT INTO part VALUES ('prt_10', 'msg_03', 'ses_00000000000000000001', 1761991208000, 1761991209000, '{"type":"tool","tool":"task","callID":"call_4","state":{"status":"running","input":{"description":"look"},"time":{"start":1761991208000}}}');
INSERT INTO message VALUES ('msg_04', 'ses_00000000000000000001', 1761991220000, 1761991221000, '{"role":"user","time":{"created":1761991220000},"agent":"build","summary":{"diffs":[]}}');
INSERT INTO part VALUES ('prt_11', 'msg_04', 'ses_00000000000000000001', 1761991220000, 1761991221000, '{"type":"compaction","auto":true}');
INSERT INTO message VALUES ('msg_05', 'ses_00000000000000000001', 1761991221000, 1761991222000, '{"role":"assistant","modelID":"model-a","providerID":"p","path":{"cwd":"/home/dev/shop","root":"/"},"cost":0.01,"tokens":{"input":100,"output":7,"reasoning":0,"cache":{"read":50,"write":0}},"time":{"created":1761991221000,"completed":1761991222000},"summary":true,"mode":"compaction"}');
INSERT INTO part VALUES ('prt_12', 'msg_05', 'ses_00000000000000000001', 1761991221000, 1761991222000, '{"type":"text","text":"The user asked about the total."}');
INSERT INTO message VALUES ('msg_06', 'ses_00000000000000000001', 1761991230000, 1761991231000, '{"role":"user","time":{"created":1761991230000},"agent":"build","summary":{"diffs":[]}}');
INSERT INTO part VALUES ('prt_13', 'msg_06', 'ses_00000000000000000001', 1761991230000, 1761991231000, '{"type":"text","text":"Fix it."}');
INSERT INTO message VALUES ('msg_07', 'ses_00000000000000000001', 1761991231000, 1761991232000, '{"role":"assistant","modelID":"model-a","providerID":"p","path":{"cwd":"/home/dev/shop","root":"/"},"cost":0.01,"tokens":{"input":100,"output":9,"reasoning":0,"cache":{"read":50,"write":0}},"time":{"created":1761991231000,"completed":1761991232000}}');
INSERT INTO part VALUES ('prt_14', 'msg_07', 'ses_00000000000000000001', 1761991231000, 1761991232000, '{"type":"text","text":"Fixed.","time":{"start":1761991231000,"end":1761991232000}}');
INSERT INTO part VALUES ('prt_15', 'msg_07', 'ses_00000000000000000001', 1761991232000, 1761991232000, '{not json');
INSERT INTO session VALUES ('ses_00000000000000000002', 'global', 'ses_00000000000000000001', '/home/dev/shop', 'look (@general subagent)', '1.18.33', '{"id": "model-a", "providerID": "p"}', 1761991300000, 1761991360000);
INSERT INTO message VALUES ('msg_21', 'ses_00000000000000000002', 1761991301000, 1761991302000, '{"role":"user","time":{"created":1761991301000},"agent":"build","summary":{"diffs":[]}}');
INSERT INTO part VALUES ('prt_21', 'msg_21', 'ses_00000000000000000002', 1761991301000, 1761991302000, '{"type":"text","text":"Look into the tax."}');
INSERT INTO message VALUES ('msg_22', 'ses_00000000000000000002', 1761991302000, 1761991303000, '{"role":"assistant","modelID":"model-a","providerID":"p","path":{"cwd":"/home/dev/shop","root":"/"},"cost":0.01,"tokens":{"input":100,"output":8,"reasoning":0,"cache":{"read":50,"write":0}},"time":{"created":1761991302000,"completed":1761991303000}}');
INSERT INTO part VALUES ('prt_22', 'msg_22', 'ses_00000000000000000002', 1761991302000, 1761991303000, '{"type":"text","text":"It is 19 %."}');
INSERT INTO session VALUES ('ses_00000000000000000003', 'global', NULL, '/home/dev/shop', 'Orders', '1.18.33', '{"id": "model-a", "providerID": "p"}', 1761991400000, 1761991460000);
INSERT INTO message VALUES ('msg_31', 'ses_00000000000000000003', 1761991401000, 1761991402000, '{"role":"user","time":{"created":1761991401000},"agent":"build","summary":{"diffs":[]}}');
INSERT INTO part VALUES ('prt_31', 'msg_31', 'ses_00000000000000000003', 1761991401000, 1761991402000, '{"type":"text","text":"List the open orders."}');
INSERT INTO message VALUES ('msg_32', 'ses_00000000000000000003', 1761991402000, 1761991403000, '{"role":"assistant","modelID":"model-a","providerID":"p","path":{"cwd":"/home/dev/shop","root":"/"},"cost":0.01,"tokens":{"input":100,"output":12,"reasoning":0,"cache":{"read":50,"write":0}},"time":{"created":1761991402000,"completed":1761991403000}}');
INSERT INTO part VALUES ('prt_32', 'msg_32', 'ses_00000000000000000003', 1761991402000, 1761991403000, '{"type":"text","text":"There are three."}');
INSERT INTO session VALUES ('ses_00000000000000000004', 'global', NULL, '/home/dev/shop', 'Nothing said', '1.18.33', '{"id": "model-a", "providerID": "p"}', 1761991500000, 1761991560000);
