-- The search index, `search.db`: derived from the database and disposable. Nothing migrates it; a changed schema is
-- another fingerprint (`store/memory/index/search_index`), and the index is built again.

-- What was read of the database so far, and by which rules.
CREATE TABLE meta (
    name  TEXT PRIMARY KEY NOT NULL,
    value ANY
) STRICT, WITHOUT ROWID;

-- How far the messages of each session were read.
CREATE TABLE sessions (
    id           INTEGER PRIMARY KEY,
    last_message INTEGER NOT NULL
) STRICT;

-- A text that can be found: a message, or another text of a session, an effort or a program. `source` names one that is
-- no message. The text itself is kept, compressed: a word is removed from the index by giving the text again.
CREATE TABLE docs (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    source     TEXT,
    kind       TEXT NOT NULL,
    role       TEXT,
    session_id INTEGER,
    effort_id  INTEGER,
    project_id INTEGER,
    driver     TEXT,
    agent_id   TEXT,
    time_ms    INTEGER NOT NULL,
    message_id INTEGER,
    unit_id    INTEGER,
    is_below   INTEGER NOT NULL,
    is_passing INTEGER NOT NULL,
    codec      INTEGER NOT NULL,
    size       INTEGER NOT NULL,
    data       BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX docs_source ON docs (source) WHERE source IS NOT NULL;
CREATE INDEX docs_session ON docs (session_id, unit_id);
CREATE INDEX docs_message ON docs (message_id) WHERE message_id IS NOT NULL;
CREATE INDEX docs_effort ON docs (effort_id) WHERE session_id IS NULL;
CREATE INDEX docs_passing ON docs (session_id, message_id) WHERE is_passing = 1;

-- The vector of a text, if vectors are configured; empty if the model knows nothing in it. `meta` names the model, and the
-- last text that has one: no id is used twice.
CREATE TABLE vectors (
    doc_id INTEGER PRIMARY KEY,
    data   BLOB NOT NULL
) STRICT;

CREATE TRIGGER docs_vector AFTER DELETE ON docs BEGIN
    DELETE FROM vectors WHERE doc_id = old.id;
END;

-- A prompt, or the answers up to the next prompt. Only the last one of a session is open; while more of the session is
-- being read, it has no words yet.
CREATE TABLE units (
    id         INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL,
    kind       TEXT NOT NULL,
    size       INTEGER NOT NULL,
    messages   INTEGER NOT NULL,
    is_written INTEGER NOT NULL
) STRICT;

CREATE INDEX units_session ON units (session_id);

-- A command line that a tool was given, and how it ended. `fixed_by` is the later run of the same command in that
-- session that succeeded; both have the id of their text in `docs`.
CREATE TABLE commands (
    id          INTEGER PRIMARY KEY,
    session_id  INTEGER NOT NULL,
    effort_id   INTEGER,
    project_id  INTEGER,
    message_id  INTEGER NOT NULL,
    call_id     TEXT,
    tool        TEXT NOT NULL,
    command     TEXT NOT NULL,
    cwd         TEXT,
    time_ms     INTEGER NOT NULL,
    exit_status INTEGER,
    is_error    INTEGER CHECK (is_error IN (0, 1)),
    error_line  TEXT,
    signature   TEXT,
    result_message_id INTEGER,
    fixed_by    INTEGER
) STRICT;

CREATE INDEX commands_session ON commands (session_id, id);
CREATE INDEX commands_signature ON commands (signature) WHERE signature IS NOT NULL;

-- Paths, error lines and identifiers with several parts, each once, and the texts that have them.
CREATE TABLE names (
    id   INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('path', 'error', 'symbol')),
    text TEXT NOT NULL,
    UNIQUE (kind, text)
) STRICT;

CREATE TABLE name_docs (
    name_id    INTEGER NOT NULL,
    doc_id     INTEGER NOT NULL,
    session_id INTEGER,
    PRIMARY KEY (name_id, doc_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX name_docs_doc ON name_docs (doc_id);
CREATE INDEX name_docs_session ON name_docs (session_id) WHERE session_id IS NOT NULL;

-- How many texts each scope has, so that a small one is searched for and a large one filtered.
CREATE TABLE scopes (
    token TEXT PRIMARY KEY NOT NULL,
    docs  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The words: of texts, of units, and of what tools were given and returned.
CREATE VIRTUAL TABLE words USING fts5(
    title, prompt, decision, answer, parts, scope,
    content='', tokenize='porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE unit_words USING fts5(
    title, prompt, decision, answer, parts, scope,
    content='', tokenize='porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE tool_words USING fts5(
    text, parts, scope,
    content='', tokenize='porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE name_grams USING fts5(text, content='', tokenize='trigram');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row);

INSERT INTO words (words, rank) VALUES ('rank', 'bm25(4.0, 2.0, 2.0, 1.0, 0.5, 0.0)');
INSERT INTO unit_words (unit_words, rank) VALUES ('rank', 'bm25(4.0, 2.0, 2.0, 1.0, 0.5, 0.0)');
INSERT INTO tool_words (tool_words, rank) VALUES ('rank', 'bm25(1.0, 0.5, 0.0)');

-- What is deleted is gone from the file, not only out of reach.
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
INSERT INTO unit_words (unit_words, rank) VALUES ('secure-delete', 1);
INSERT INTO tool_words (tool_words, rank) VALUES ('secure-delete', 1);
INSERT INTO name_grams (name_grams, rank) VALUES ('secure-delete', 1);
