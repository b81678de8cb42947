-- The whole schema on SQLite, as the migrations leave it. It is here to be read: nothing runs it but the test that
-- compares the two (tests/store/test_schema.py). A change of schema is a new migration first, and then a change here.

-- The history: content by hash, commits in segments, branches as pointers, moves so that a rewrite can be undone.
--
-- Pointers between these tables carry no foreign keys: each would need an index that every append pays for, and only
-- garbage collection ever deletes. The store keeps them whole, and `db.check` verifies every one.

CREATE TABLE schema_migrations (
    number     INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    applied_at TEXT NOT NULL,
    hash       TEXT
) STRICT;

CREATE TABLE blobs (
    id    INTEGER PRIMARY KEY,
    hash  BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    codec INTEGER NOT NULL CHECK (codec >= 0),
    size  INTEGER NOT NULL CHECK (size >= 0),
    data  BLOB NOT NULL
) STRICT;

-- A run of commits with consecutive seq that grows out of one place of another run.
CREATE TABLE segments (
    id              INTEGER PRIMARY KEY,
    base_segment_id INTEGER REFERENCES segments (id),
    base_seq        INTEGER NOT NULL DEFAULT 0 CHECK (base_seq >= 0),
    CHECK ((base_segment_id IS NULL) = (base_seq = 0))
) STRICT;

-- reported_tokens is what a provider counted, tokens our own estimate. token_sum counts the tokens of a commit and of
-- all before it, so that a budget is a range of seq.
CREATE TABLE commits (
    id               INTEGER PRIMARY KEY,
    hash             BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    segment_id       INTEGER NOT NULL REFERENCES segments (id),
    seq              INTEGER NOT NULL CHECK (seq >= 1),
    parent_id        INTEGER,
    second_parent_id INTEGER,
    blob_id          INTEGER NOT NULL,
    content_type     TEXT NOT NULL,
    role             TEXT NOT NULL,
    operation        TEXT NOT NULL DEFAULT 'append' CHECK (operation IN ('append', 'edit')),
    target_id        INTEGER,
    author           TEXT NOT NULL,
    at_ms            INTEGER,
    created_ms       INTEGER NOT NULL,
    tokens           INTEGER NOT NULL CHECK (tokens >= 0),
    token_sum        INTEGER NOT NULL CHECK (token_sum >= tokens),
    metadata         TEXT,
    reported_tokens  INTEGER,
    UNIQUE (segment_id, seq)
) STRICT;

-- The boundaries in a history are few among all that was said.
CREATE INDEX idx_commits_boundaries ON commits (segment_id, seq) WHERE content_type = 'session';

-- Edits, and the commits of all types but those of plain turns: a long history has few of them, and what is visible of
-- it follows from them.
CREATE INDEX idx_commits_special ON commits (segment_id, seq)
WHERE target_id IS NOT NULL OR content_type NOT IN ('dialogue', 'freeform', 'reasoning', 'tool_io');

-- Merges, of which a long history has few: no summary takes the place of one, whatever its type.
CREATE INDEX idx_commits_merges ON commits (segment_id, seq) WHERE second_parent_id IS NOT NULL;

CREATE TABLE branches (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    commit_id  INTEGER,
    created_ms INTEGER NOT NULL
) STRICT;

-- Every move of a branch that is not a plain append. One that takes another back names it.
CREATE TABLE moves (
    id            INTEGER PRIMARY KEY,
    branch_name   TEXT NOT NULL,
    old_commit_id INTEGER,
    new_commit_id INTEGER,
    why           TEXT NOT NULL,
    at_ms         INTEGER NOT NULL,
    undoes        INTEGER REFERENCES moves (id) ON DELETE SET NULL
) STRICT;

CREATE INDEX idx_moves_branch ON moves (branch_name, id);

-- Deleting a segment or a move looks for those that point at it. Both are rare, so the indexes cost next to nothing.
CREATE INDEX idx_segments_base ON segments (base_segment_id) WHERE base_segment_id IS NOT NULL;
CREATE INDEX idx_moves_undoes ON moves (undoes) WHERE undoes IS NOT NULL;

-- The three layers of work: tasks that never finish, efforts that apply a skill, sessions that serve an effort.

CREATE TABLE projects (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    path       TEXT NOT NULL UNIQUE CHECK (path LIKE '/%'),
    name       TEXT,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    remote     TEXT,
    removed_at TEXT
) STRICT;

CREATE UNIQUE INDEX idx_projects_remote ON projects (remote) WHERE remote IS NOT NULL;

CREATE TABLE skills (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id       INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    name             TEXT NOT NULL,
    phases           TEXT,
    modes            TEXT,
    templates        TEXT,
    cmd_dependencies TEXT,
    next_skills      TEXT,
    directives       TEXT,
    updated_at       TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    UNIQUE (project_id, name)
) STRICT;

CREATE TABLE tasks (
    dir_path    TEXT PRIMARY KEY NOT NULL,
    project_id  INTEGER NOT NULL REFERENCES projects (id),
    workspace   TEXT,
    title       TEXT,
    description TEXT,
    keywords    TEXT,
    created_at  TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

CREATE TABLE efforts (
    id                     INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id                TEXT NOT NULL REFERENCES tasks (dir_path) ON DELETE CASCADE,
    skill                  TEXT NOT NULL,
    mode                   TEXT,
    ordinal                INTEGER NOT NULL CHECK (ordinal >= 1),
    lifecycle              TEXT NOT NULL DEFAULT 'active' CHECK (lifecycle IN ('queued', 'active', 'finished')),
    current_phase          TEXT,
    discovered_directives  TEXT,
    discovered_directories TEXT,
    metadata               TEXT,
    created_at             TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    finished_at            TEXT,
    outcome                TEXT CHECK (outcome IN
                               ('success', 'no_change', 'error', 'timeout', 'stuck', 'cancelled', 'budget', 'dropped')),
    reason                 TEXT,
    prompt                 TEXT,
    based_on               INTEGER REFERENCES efforts (id) ON DELETE SET NULL,
    depends_on             TEXT,
    driver                 TEXT,
    model                  TEXT,
    priority               INTEGER NOT NULL DEFAULT 0,
    timeout_seconds        INTEGER,
    report_file            TEXT,
    output_content         TEXT,
    worktree               TEXT,
    git_branch             TEXT,
    git_base               TEXT,
    git_head               TEXT,
    attempts               INTEGER NOT NULL DEFAULT 0,
    retry_of               INTEGER REFERENCES efforts (id) ON DELETE SET NULL,
    run_id                 INTEGER,
    lease_owner            TEXT,
    lease_generation       INTEGER NOT NULL DEFAULT 0,
    lease_expires_at       TEXT,
    usage                  TEXT,
    failure                TEXT CHECK (failure IN
                               ('transient', 'permanent', 'limit', 'infrastructure', 'timeout', 'unknown')),
    not_before             TEXT,
    continues_session_id   INTEGER,
    agent_failures         INTEGER NOT NULL DEFAULT 0,
    host_failures          INTEGER NOT NULL DEFAULT 0,
    stop_request           TEXT,
    changes                TEXT,
    run_line               TEXT,
    run_order              INTEGER,
    run_agent              TEXT,
    spawned_by             INTEGER REFERENCES sessions (id) ON DELETE SET NULL,
    awaited_by             INTEGER REFERENCES sessions (id) ON DELETE SET NULL,
    workspace              TEXT,
    base_commit            TEXT,
    base_branch            TEXT,
    base_changes           TEXT,
    accepts_no_change      INTEGER NOT NULL DEFAULT 0 CHECK (accepts_no_change IN (0, 1)),
    avoid_host             TEXT,
    git_host               TEXT,
    UNIQUE (task_id, ordinal),
    CHECK ((lifecycle = 'finished') = (finished_at IS NOT NULL)),
    CHECK ((lifecycle = 'finished') = (outcome IS NOT NULL))
) STRICT;

CREATE INDEX idx_efforts_task_lifecycle ON efforts (task_id, lifecycle);
-- Nearly all efforts are finished. What is looked for again and again is the next of those that wait, and the few that
-- somebody has a lease on.
CREATE INDEX idx_efforts_queue ON efforts (coalesce(run_id, 0), priority DESC, id) WHERE lifecycle = 'queued';
CREATE INDEX idx_efforts_lease ON efforts (lease_expires_at) WHERE lease_expires_at IS NOT NULL;
CREATE INDEX idx_efforts_owner ON efforts (lease_owner) WHERE lease_owner IS NOT NULL;
CREATE INDEX idx_efforts_retry ON efforts (retry_of) WHERE retry_of IS NOT NULL;
CREATE INDEX idx_efforts_run ON efforts (run_id, run_order) WHERE run_id IS NOT NULL;
CREATE INDEX idx_efforts_spawned ON efforts (spawned_by) WHERE spawned_by IS NOT NULL;
CREATE INDEX idx_efforts_awaited ON efforts (awaited_by) WHERE awaited_by IS NOT NULL;

-- An agent holds at most one effort, and an effort has at most one holder.
CREATE TABLE agents (
    id        TEXT PRIMARY KEY NOT NULL,
    label     TEXT,
    claims    TEXT,
    effort_id INTEGER UNIQUE REFERENCES efforts (id) ON DELETE SET NULL
) STRICT;

CREATE TABLE sessions (
    id                  INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id             TEXT NOT NULL REFERENCES tasks (dir_path) ON DELETE CASCADE,
    effort_id           INTEGER NOT NULL REFERENCES efforts (id) ON DELETE CASCADE,
    prev_session_id     INTEGER REFERENCES sessions (id) ON DELETE SET NULL,
    parent_session_id   INTEGER REFERENCES sessions (id) ON DELETE SET NULL,
    root_session_id     INTEGER NOT NULL,
    spawn_depth         INTEGER NOT NULL DEFAULT 0 CHECK (spawn_depth >= 0),
    agent_id            TEXT REFERENCES agents (id) ON DELETE SET NULL,
    driver              TEXT,
    native_id           TEXT,
    pid                 INTEGER,
    instance            TEXT,
    generation          INTEGER NOT NULL DEFAULT 0,
    branch              TEXT NOT NULL REFERENCES branches (name),
    heartbeat_counter   INTEGER NOT NULL DEFAULT 0,
    last_heartbeat      TEXT,
    context_usage       REAL CHECK (context_usage BETWEEN 0.0 AND 1.0),
    loaded_files        TEXT,
    dehydration_payload TEXT,
    outcome             TEXT CHECK (outcome IN
                            ('success', 'no_change', 'error', 'timeout', 'stuck', 'cancelled', 'budget', 'dropped')),
    notes               TEXT,
    created_at          TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    ended_at            TEXT,
    exit_status         INTEGER,
    exit_signal         INTEGER,
    process_started     REAL,
    reported_seq        INTEGER NOT NULL DEFAULT 0,
    tools_in_flight     TEXT,
    deadline            TEXT,
    report              TEXT,
    host                TEXT,
    permission_tool     TEXT,
    model               TEXT,
    title               TEXT,
    forked_from_session_id INTEGER REFERENCES sessions (id) ON DELETE SET NULL,
    archived_at         TEXT,
    purged_at           TEXT,
    UNIQUE (driver, native_id),
    CHECK (native_id IS NULL OR driver IS NOT NULL),
    CHECK ((ended_at IS NULL) = (outcome IS NULL))
) STRICT;

CREATE INDEX idx_sessions_effort_ended ON sessions (effort_id, ended_at);
CREATE INDEX idx_sessions_agent ON sessions (agent_id, id);
CREATE INDEX idx_sessions_task ON sessions (task_id, id);
CREATE INDEX idx_sessions_root ON sessions (root_session_id);
CREATE INDEX idx_sessions_branch ON sessions (branch);
CREATE INDEX idx_sessions_parent ON sessions (parent_session_id) WHERE parent_session_id IS NOT NULL;
CREATE INDEX idx_sessions_prev ON sessions (prev_session_id) WHERE prev_session_id IS NOT NULL;
-- Most sessions have ended; those that are looked for again and again have not.
CREATE INDEX idx_sessions_open ON sessions (id) WHERE ended_at IS NULL;
-- A program that begins a new context is known by its process.
CREATE INDEX idx_sessions_pid ON sessions (pid) WHERE pid IS NOT NULL AND instance IS NULL;

CREATE TABLE phase_history (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    effort_id   INTEGER NOT NULL REFERENCES efforts (id) ON DELETE CASCADE,
    phase_label TEXT NOT NULL,
    proof       TEXT,
    reason      TEXT,
    created_at  TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

CREATE INDEX idx_phase_history_effort ON phase_history (effort_id, id);

-- One thin row per turn: the text is the commit's blob. The timestamp counts milliseconds since 1970 UTC.
CREATE TABLE messages (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    role       TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'system', 'tool')),
    commit_id  INTEGER NOT NULL,
    tool_name  TEXT,
    timestamp  INTEGER NOT NULL,
    source_key TEXT,
    is_provisional INTEGER NOT NULL DEFAULT 0 CHECK (is_provisional IN (0, 1))
) STRICT;

CREATE INDEX idx_messages_session_ts ON messages (session_id, timestamp);
CREATE UNIQUE INDEX idx_messages_source_key ON messages (source_key) WHERE source_key IS NOT NULL;
-- A turn that a hook told of before the transcript had it.
CREATE INDEX idx_messages_provisional ON messages (session_id) WHERE is_provisional = 1;
-- What people said is looked for among many more turns of tools.
CREATE INDEX idx_messages_prompts ON messages (session_id, timestamp) WHERE role = 'user';
-- So is what an agent said with the tools with which it keeps its list.
CREATE INDEX idx_messages_lists ON messages (session_id, timestamp)
    WHERE tool_name IN ('TodoWrite', 'TaskCreate', 'TaskUpdate', 'update_plan');

CREATE TABLE embeddings (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id   INTEGER REFERENCES projects (id) ON DELETE CASCADE,
    source_type  TEXT NOT NULL,
    source_path  TEXT NOT NULL,
    chunk_text   TEXT,
    content_hash BLOB NOT NULL CHECK (length(content_hash) = 32),
    model        TEXT,
    dimension    INTEGER CHECK (dimension > 0),
    embedding    BLOB CHECK (length(embedding) = 4 * dimension),
    updated_at   TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    CHECK ((model IS NULL) = (embedding IS NULL) AND (dimension IS NULL) = (embedding IS NULL))
) STRICT;

-- Two rows without a project are the same row too, which a plain UNIQUE would not see.
CREATE UNIQUE INDEX idx_embeddings_source
    ON embeddings (coalesce(project_id, 0), source_type, source_path, content_hash);
CREATE INDEX idx_embeddings_path ON embeddings (source_path);

-- Who is doing what. An effort may have several open sessions (sub-agents); of the holder's own, the one nearest the
-- root speaks for it.
CREATE VIEW fleet_status AS
SELECT a.id AS agent, a.label, e.skill, e.current_phase, s.heartbeat_counter, s.context_usage,
       e.task_id, e.id AS effort_id, e.ordinal, s.id AS session_id, s.last_heartbeat,
       coalesce(s.created_at, e.created_at) AS since, e.lease_expires_at, s.tools_in_flight
FROM agents a
JOIN efforts e ON e.id = a.effort_id
LEFT JOIN sessions s ON s.id = (
    SELECT o.id FROM sessions o
    WHERE o.effort_id = e.id AND o.ended_at IS NULL AND (o.agent_id = a.id OR o.agent_id IS NULL)
    ORDER BY o.spawn_depth, o.id DESC LIMIT 1
);

CREATE VIEW task_summary AS
SELECT t.*,
       (SELECT count(*) FROM efforts e WHERE e.task_id = t.dir_path) AS effort_count,
       (SELECT count(*) FROM efforts e WHERE e.task_id = t.dir_path AND e.lifecycle = 'active') AS active_count,
       (SELECT e.skill FROM efforts e WHERE e.task_id = t.dir_path ORDER BY e.ordinal DESC LIMIT 1) AS latest_skill,
       (SELECT max(e.created_at) FROM efforts e WHERE e.task_id = t.dir_path) AS last_activity
FROM tasks t;

CREATE VIEW active_efforts AS
SELECT e.*, coalesce(s.name, e.skill) AS skill_name
FROM efforts e
JOIN tasks t ON t.dir_path = e.task_id
LEFT JOIN skills s ON s.project_id = t.project_id AND s.name = e.skill
WHERE e.lifecycle = 'active';

-- A session that never beat is as old as its start.
CREATE VIEW stale_sessions AS
SELECT s.*, t.dir_path AS task_dir
FROM sessions s
JOIN tasks t ON t.dir_path = s.task_id
WHERE s.ended_at IS NULL
  AND coalesce(s.last_heartbeat, s.created_at) < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-5 minutes');

-- The append-only log of what changed, and the replies kept for their idempotency keys.

CREATE TABLE events (
    id         INTEGER PRIMARY KEY,
    kind       TEXT NOT NULL,
    at_ms      INTEGER NOT NULL,
    project_id INTEGER,
    task_id    TEXT,
    effort_id  INTEGER,
    session_id INTEGER,
    agent_id   TEXT,
    dedupe_key TEXT,
    data       TEXT
) STRICT;

CREATE UNIQUE INDEX idx_events_dedupe ON events (dedupe_key) WHERE dedupe_key IS NOT NULL;
CREATE INDEX idx_events_logged ON events (effort_id, id) WHERE kind = 'session.logged';

CREATE TABLE idempotency (
    principal    TEXT NOT NULL,
    key          TEXT NOT NULL,
    request_hash BLOB NOT NULL,
    reply        BLOB NOT NULL,
    at_ms        INTEGER NOT NULL,
    PRIMARY KEY (principal, key)
) STRICT;

CREATE INDEX idx_idempotency_at ON idempotency (at_ms);

-- What makes a history a context: how much each commit matters, what kinds there are, and who was spawned from whom.

CREATE TABLE annotations (
    commit_id INTEGER PRIMARY KEY REFERENCES commits (id) ON DELETE CASCADE,
    priority  TEXT NOT NULL CHECK (priority IN ('skip', 'normal', 'important', 'pinned'))
) STRICT;

-- One row. The number grows with every annotation and with every collection of garbage, and never falls, so that
-- whoever keeps something compiled sees that it is out of date.
CREATE TABLE revisions (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    number INTEGER NOT NULL
) STRICT;

CREATE TABLE tags (
    commit_id INTEGER NOT NULL REFERENCES commits (id) ON DELETE CASCADE,
    tag       TEXT NOT NULL,
    PRIMARY KEY (commit_id, tag)
) STRICT;

CREATE INDEX idx_tags_tag ON tags (tag);

CREATE TABLE content_types (
    name                 TEXT PRIMARY KEY NOT NULL,
    default_role         TEXT NOT NULL CHECK (default_role IN ('system', 'user', 'assistant', 'tool')),
    default_priority     TEXT NOT NULL CHECK (default_priority IN ('skip', 'normal', 'important', 'pinned')),
    compression_priority INTEGER NOT NULL CHECK (compression_priority BETWEEN 0 AND 100),
    compiles             INTEGER NOT NULL CHECK (compiles IN (0, 1))
) STRICT;

-- A child history has one parent. The commit is where the parent stood; the pointer outlives it.
CREATE TABLE spawn_pointers (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    parent_branch     TEXT NOT NULL,
    parent_commit_id  INTEGER REFERENCES commits (id) ON DELETE SET NULL,
    child_branch      TEXT NOT NULL,
    purpose           TEXT NOT NULL,
    inheritance_mode  TEXT NOT NULL CHECK (inheritance_mode IN ('none', 'full_clone', 'head_snapshot', 'selective')),
    display_name      TEXT CHECK (length(display_name) <= 255),
    created_at        TEXT NOT NULL,
    parent_session_id INTEGER REFERENCES sessions (id) ON DELETE SET NULL,
    child_session_id  INTEGER REFERENCES sessions (id) ON DELETE SET NULL,
    CHECK (parent_branch <> child_branch)
) STRICT;

CREATE INDEX ix_spawn_parent_tract ON spawn_pointers (parent_branch);
CREATE UNIQUE INDEX ix_spawn_child_tract ON spawn_pointers (child_branch);
CREATE INDEX idx_spawn_pointers_commit ON spawn_pointers (parent_commit_id);

-- The commits by which a parent took in what a child had done, and where the child then stood.
CREATE TABLE collapses (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    spawn_id      INTEGER NOT NULL REFERENCES spawn_pointers (id) ON DELETE CASCADE,
    commit_id     INTEGER NOT NULL UNIQUE REFERENCES commits (id) ON DELETE CASCADE,
    child_head_id INTEGER REFERENCES commits (id) ON DELETE SET NULL,
    at_ms         INTEGER NOT NULL
) STRICT;

CREATE INDEX idx_collapses_spawn ON collapses (spawn_id);
CREATE INDEX idx_collapses_child_head ON collapses (child_head_id);

-- The queue: what an effort waits for, what its sessions used, and what a person has to know of it.

-- An effort waits until each one that it needs has finished: with success, or, of a line of a run, in any way.
CREATE TABLE dependencies (
    effort_id INTEGER NOT NULL REFERENCES efforts (id) ON DELETE CASCADE,
    needs_id  INTEGER NOT NULL REFERENCES efforts (id) ON DELETE CASCADE,
    needs     TEXT NOT NULL DEFAULT 'success' CHECK (needs IN ('success', 'end')),
    PRIMARY KEY (effort_id, needs_id)
) STRICT;

CREATE INDEX idx_dependencies_needs ON dependencies (needs_id);

-- What a session used. The same key again replaces what it said before, so nothing is counted twice.
CREATE TABLE usage (
    session_id         INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    key                TEXT NOT NULL,
    model              TEXT,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cache_read_tokens  INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    cost_usd           REAL,
    estimated_usd      REAL,
    PRIMARY KEY (session_id, key)
) STRICT;

-- A copy of a session repeats what the original has used.
CREATE INDEX idx_usage_key ON usage (key);
-- The cost of a session is read again and again, so it is read from the index alone.
CREATE INDEX idx_usage_cost ON usage (session_id, cost_usd, estimated_usd)
WHERE cost_usd IS NOT NULL OR estimated_usd IS NOT NULL;

-- When what was used was used: what each session used in each quarter of an hour, by model. A key of `usage` may be a sum
-- that grows for days, so its row cannot say it. Quarters of an hour make whole days in every time zone. calls are the
-- calls of models, as far as they are known; injected_tokens are Ramet's own texts in prompts, which are input tokens too.
CREATE TABLE usage_times (
    session_id         INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    at_ms              INTEGER NOT NULL CHECK (at_ms % 900000 = 0),
    model              TEXT NOT NULL,
    calls              INTEGER NOT NULL DEFAULT 0,
    input_tokens       INTEGER NOT NULL DEFAULT 0,
    output_tokens      INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens  INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    injected_tokens    INTEGER NOT NULL DEFAULT 0,
    cost_usd           REAL,
    estimated_usd      REAL,
    PRIMARY KEY (at_ms, session_id, model)
) STRICT;
CREATE INDEX idx_usage_times_session ON usage_times (session_id);

CREATE TABLE notices (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    kind         TEXT NOT NULL CHECK (kind IN
                     ('changed_files', 'unreadable_verdict', 'gave_up', 'timeout', 'stuck', 'limit', 'cut', 'run_bound',
                      'review_bound', 'parked', 'budget', 'refused', 'damaged', 'landing')),
    text         TEXT NOT NULL,
    effort_id    INTEGER REFERENCES efforts (id) ON DELETE CASCADE,
    session_id   INTEGER REFERENCES sessions (id) ON DELETE SET NULL,
    created_at   TEXT NOT NULL,
    dismissed_at TEXT,
    dedupe_key   TEXT NOT NULL UNIQUE
) STRICT;

CREATE INDEX idx_notices_open ON notices (id) WHERE dismissed_at IS NULL;
CREATE INDEX idx_notices_effort ON notices (effort_id);

-- Runs: a task file or a chain, whose lines are efforts; what its reviews found. And what lets several machines share
-- the work: which drivers are left alone for a while, and where on each host a project is.

CREATE TABLE runs (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id        INTEGER NOT NULL REFERENCES projects (id),
    task_id           TEXT NOT NULL REFERENCES tasks (dir_path) ON DELETE CASCADE,
    name              TEXT NOT NULL,
    mode              TEXT NOT NULL CHECK (mode IN ('sequential', 'parallel', 'chain')),
    content_hash      TEXT,
    limits            TEXT NOT NULL,
    stop_on_failure   INTEGER NOT NULL CHECK (stop_on_failure IN (0, 1)),
    save_conversation INTEGER NOT NULL CHECK (save_conversation IN (0, 1)),
    branch            TEXT,
    created_at        TEXT NOT NULL,
    started_at        TEXT NOT NULL,
    attender          TEXT,
    attended_until    TEXT,
    finished_at       TEXT,
    archived_at       TEXT,
    reason            TEXT,
    base_commit       TEXT,
    base_branch       TEXT,
    base_changes      TEXT,
    keep_going        INTEGER NOT NULL DEFAULT 0 CHECK (keep_going IN (0, 1)),
    purged_at         TEXT,
    CHECK ((attender IS NULL) = (attended_until IS NULL))
) STRICT;

CREATE INDEX idx_runs_branch ON runs (branch);

-- What the reviews of a chain found, each thing once: the round and the review that last said it.
CREATE TABLE findings (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id      INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    effort_id   INTEGER REFERENCES efforts (id) ON DELETE SET NULL,
    round       INTEGER NOT NULL CHECK (round >= 1),
    fingerprint TEXT NOT NULL,
    severity    TEXT NOT NULL CHECK (severity IN ('BLOCKER', 'FOLLOWUP', 'NIT')),
    file        TEXT,
    line        INTEGER,
    text        TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('open', 'gone')),
    UNIQUE (run_id, fingerprint)
) STRICT;

-- Drivers whose account is at a limit, or that failed again and again.
CREATE TABLE parked (
    driver   TEXT PRIMARY KEY NOT NULL,
    until    TEXT,
    reason   TEXT NOT NULL,
    failures INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Hosts that failed before an agent began: how often in a row, and since when one claims nothing.
CREATE TABLE hosts (
    name         TEXT PRIMARY KEY NOT NULL,
    failures     INTEGER NOT NULL CHECK (failures >= 0),
    failed_at    TEXT,
    reason       TEXT NOT NULL,
    parked_at    TEXT,
    parked_until TEXT,
    CHECK (parked_at IS NOT NULL OR parked_until IS NULL)
) STRICT;

-- Where on each host a project is.
CREATE TABLE project_paths (
    project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    host       TEXT NOT NULL,
    path       TEXT NOT NULL CHECK (path LIKE '/%'),
    PRIMARY KEY (project_id, host),
    UNIQUE (host, path)
) STRICT;

-- What a session and all below it may use; nulls: any amount. What they have used is the sum of their `usage`, counted
-- here with each call so that looking at a bound costs the same however large the tree is. It is settled when nothing
-- more will be used of it: what is left of it is then free for others.
CREATE TABLE budgets (
    session_id      INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    root_session_id INTEGER NOT NULL,
    tokens          INTEGER CHECK (tokens >= 0),
    cost_usd        REAL CHECK (cost_usd >= 0),
    spent_tokens    INTEGER NOT NULL,
    spent_cost_usd  REAL NOT NULL,
    settled_at      TEXT
) STRICT;

CREATE INDEX idx_budgets_root ON budgets (root_session_id, settled_at);

-- How far the transcript of a session was read.
CREATE TABLE ingests (
    path       TEXT PRIMARY KEY NOT NULL,
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    read_bytes INTEGER NOT NULL CHECK (read_bytes >= 0),
    inode      INTEGER,
    at         TEXT NOT NULL
) STRICT;

CREATE INDEX idx_ingests_session ON ingests (session_id);

-- The directories that a session has come to, without a hash, and the directives that it was told, with theirs.
CREATE TABLE discoveries (
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    path       TEXT NOT NULL,
    hash       TEXT,
    PRIMARY KEY (session_id, path)
) STRICT;

-- The sessions whose agents were not told what they are told at the start of a context window, because no daemon
-- answered the hook in time; and how that window began.
CREATE TABLE missed_starts (
    session_id INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    source     TEXT NOT NULL
) STRICT;

-- The thoughts in a transcript that are in the session's history: they have no message to be known by.
CREATE TABLE thoughts (
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    source_key TEXT NOT NULL,
    PRIMARY KEY (session_id, source_key)
) STRICT;

-- What was purged: a blob whose content, or a commit whose author or metadata, held a secret. The row keeps its hash
-- and its size, so that histories stay whole; this says who removed the text, when and why.

CREATE TABLE tombstones (
    id        INTEGER PRIMARY KEY,
    subject   TEXT NOT NULL CHECK (subject IN ('blob', 'commit')),
    hash      BLOB NOT NULL CHECK (length(hash) = 32),
    size      INTEGER NOT NULL CHECK (size >= 0),
    purged_by TEXT NOT NULL,
    purged_at TEXT NOT NULL,
    reason    TEXT NOT NULL,
    UNIQUE (subject, hash)
) STRICT;

-- The text of a skill's file, as it was when work was last added with it: what agents that Ramet runs are told.

CREATE TABLE skill_texts (
    skill_id       INTEGER PRIMARY KEY NOT NULL REFERENCES skills (id) ON DELETE CASCADE,
    file           TEXT NOT NULL,
    description    TEXT NOT NULL,
    instructions   TEXT NOT NULL,
    template_texts TEXT NOT NULL,
    command_texts  TEXT NOT NULL DEFAULT '{}',
    changes        TEXT CHECK (changes IN ('code'))
) STRICT;

-- Efforts as people see them: with the first effort that a queued one waits for, and how that one stands.
CREATE VIEW efforts_shown AS
SELECT e.*,
       (SELECT min(d.needs_id) FROM dependencies d
        WHERE d.effort_id = e.id AND e.lifecycle = 'queued' AND EXISTS (
            SELECT 1 FROM efforts m
            WHERE m.id = d.needs_id AND m.outcome IS DISTINCT FROM 'success' AND (d.needs = 'success' OR m.outcome IS NULL)
              AND (m.outcome IS DISTINCT FROM 'no_change' OR e.accepts_no_change + m.accepts_no_change = 0)
        )) AS blocked_by,
       (SELECT coalesce(m.outcome, m.lifecycle) FROM dependencies d JOIN efforts m ON m.id = d.needs_id
        WHERE d.effort_id = e.id AND e.lifecycle = 'queued' AND m.outcome IS DISTINCT FROM 'success'
          AND (d.needs = 'success' OR m.outcome IS NULL)
          AND (m.outcome IS DISTINCT FROM 'no_change' OR e.accepts_no_change + m.accepts_no_change = 0)
        ORDER BY d.needs_id LIMIT 1) AS blocked_status
FROM efforts e;

-- Refused calls: what agents wanted to do and their owner has not allowed, each once.

CREATE TABLE refused_calls (
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    subject    TEXT NOT NULL CHECK (subject IN ('host', 'tool')),
    name       TEXT NOT NULL,
    key        TEXT NOT NULL,
    effort_id  INTEGER NOT NULL REFERENCES efforts (id) ON DELETE CASCADE,
    call       TEXT NOT NULL,
    rules      TEXT NOT NULL,
    advice     TEXT NOT NULL,
    times      INTEGER NOT NULL CHECK (times > 0),
    created_at TEXT NOT NULL,
    PRIMARY KEY (session_id, subject, name, key)
) STRICT;

CREATE INDEX idx_refused_calls_effort ON refused_calls (effort_id);

-- The images of prompts and of tools' results, each once. Commits name them by their hashes in their metadata.
CREATE TABLE images (
    hash       BLOB PRIMARY KEY NOT NULL,
    media_type TEXT NOT NULL,
    data       BLOB NOT NULL
) STRICT;

-- How far each stored session of an agent program was imported. A source that has not changed since is not read again.
CREATE TABLE imports (
    host       TEXT NOT NULL DEFAULT '',
    vendor     TEXT NOT NULL,
    source     TEXT NOT NULL,
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    position   TEXT NOT NULL,
    size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
    changed_ms INTEGER NOT NULL,
    is_whole   INTEGER NOT NULL CHECK (is_whole IN (0, 1)),
    skipped    INTEGER NOT NULL CHECK (skipped >= 0),
    at         TEXT NOT NULL,
    native_id  TEXT,
    parent_id  TEXT,
    PRIMARY KEY (host, vendor, source)
) STRICT;

CREATE INDEX idx_imports_session ON imports (session_id);
CREATE INDEX idx_imports_native ON imports (vendor, native_id);
CREATE INDEX idx_imports_parent ON imports (vendor, parent_id) WHERE parent_id IS NOT NULL;

-- Recorded edits: what tool calls, shell commands and commits of efforts added to files, as hashes of lines in the order
-- of the text around them. They are derived from the history and from git, so that losing them costs only time.

CREATE TABLE edits (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    effort_id  INTEGER NOT NULL REFERENCES efforts (id) ON DELETE CASCADE,
    session_id INTEGER REFERENCES sessions (id) ON DELETE CASCADE,
    message_id INTEGER REFERENCES messages (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL CHECK (kind IN ('tool', 'shell', 'commit')),
    path       TEXT NOT NULL,
    part       INTEGER NOT NULL CHECK (part >= 0),
    at_ms      INTEGER NOT NULL,
    git_commit TEXT,
    origin     TEXT,
    is_certain INTEGER NOT NULL CHECK (is_certain IN (0, 1)),
    lines      BLOB NOT NULL,
    CHECK ((kind = 'commit') = (git_commit IS NOT NULL)),
    CHECK (kind = 'commit' OR message_id IS NOT NULL)
) STRICT;

CREATE INDEX idx_edits_path ON edits (project_id, path);
CREATE UNIQUE INDEX idx_edits_message ON edits (message_id, kind, path, part) WHERE message_id IS NOT NULL;
CREATE UNIQUE INDEX idx_edits_commit ON edits (git_commit, effort_id, path, part) WHERE git_commit IS NOT NULL;
CREATE INDEX idx_edits_session ON edits (session_id) WHERE session_id IS NOT NULL;

-- How far the calls of a session were read for edits.
CREATE TABLE edit_readings (
    session_id      INTEGER PRIMARY KEY NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    last_message_id INTEGER NOT NULL
) STRICT;

-- The calls of tools in a session, in the order in which they are read for edits.
CREATE INDEX idx_messages_calls ON messages (session_id, id) WHERE role = 'assistant' AND tool_name IS NOT NULL;

-- Archives and purged contents: the name of this database, which rows of others it has imported, and which sessions and
-- runs are out of the lists or without their texts.

CREATE TABLE origins (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    name TEXT NOT NULL
) STRICT;

-- A row of another database's archive, and the row that it became here.
CREATE TABLE archived_keys (
    origin      TEXT NOT NULL,
    subject     TEXT NOT NULL,
    foreign_key TEXT NOT NULL,
    local_key   TEXT NOT NULL,
    PRIMARY KEY (origin, subject, foreign_key)
) STRICT;

CREATE INDEX idx_archived_keys_local ON archived_keys (subject, local_key);

-- Where in the history the texts of purged sessions and runs were: a content that only such commits carry is purged too.
CREATE TABLE purged_spans (
    segment_id INTEGER NOT NULL,
    first_seq  INTEGER NOT NULL,
    last_seq   INTEGER NOT NULL,
    PRIMARY KEY (segment_id, first_seq, last_seq)
) STRICT;

-- Purges that have begun and are not done: another step follows until the row is gone.
CREATE TABLE purges (
    branch    TEXT PRIMARY KEY NOT NULL,
    purged_by TEXT NOT NULL,
    purged_at TEXT NOT NULL,
    reason    TEXT NOT NULL
) STRICT;

-- Retention looks for the oldest sessions that still have their texts.
CREATE INDEX idx_sessions_kept ON sessions (ended_at) WHERE ended_at IS NOT NULL AND purged_at IS NULL;

-- The landing queue: what is to be merged into a branch of a repository, in which order, and what became of it. One
-- landing at a time moves a target.

CREATE TABLE landings (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id       INTEGER NOT NULL REFERENCES projects (id),
    host             TEXT NOT NULL,
    directory        TEXT NOT NULL,
    repository       TEXT NOT NULL,
    target           TEXT NOT NULL,
    kind             TEXT NOT NULL CHECK (kind IN ('work', 'undo')),
    method           TEXT NOT NULL CHECK (method IN ('merge', 'squash', 'rebase')),
    state            TEXT NOT NULL CHECK (state IN
                         ('queued', 'landing', 'landed', 'failed', 'conflicted', 'stopped', 'dropped', 'undone')),
    efforts          TEXT NOT NULL,
    needs            TEXT NOT NULL,
    undoes           INTEGER REFERENCES landings (id),
    branch           TEXT NOT NULL,
    head             TEXT NOT NULL,
    left_out         TEXT NOT NULL,
    message          TEXT NOT NULL,
    checks           TEXT NOT NULL,
    reason           TEXT,
    files            TEXT NOT NULL,
    log              TEXT,
    tip              TEXT,
    tested           TEXT,
    attempts         INTEGER NOT NULL DEFAULT 0,
    created_at       TEXT NOT NULL,
    finished_at      TEXT,
    lease_owner      TEXT,
    lease_generation INTEGER NOT NULL DEFAULT 0,
    lease_expires_at TEXT,
    CHECK ((state = 'landing') = (lease_owner IS NOT NULL)),
    CHECK ((lease_owner IS NULL) = (lease_expires_at IS NULL))
) STRICT;

CREATE UNIQUE INDEX idx_landings_lander ON landings (host, repository, target) WHERE state = 'landing';
CREATE INDEX idx_landings_open ON landings (host, id) WHERE state IN ('queued', 'landing');
CREATE INDEX idx_landings_project ON landings (project_id, id);
