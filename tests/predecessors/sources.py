"""Databases and files of the systems before Ramet, made from the tables and fields that their documents describe.

The texts of times, states and payloads are as those programs write them. No data of the real programs is in here.
"""

import hashlib
import json
import sqlite3
import struct
from pathlib import Path
from typing import Any

Rows = dict[str, dict[str, dict[str, Any]]]
"""Every row of a source by its table and its key, with every column."""

ENGINE_DDL = """
CREATE TABLE projects (id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL UNIQUE, name TEXT,
    created_at TEXT DEFAULT (datetime('now')));
CREATE TABLE skills (id INTEGER PRIMARY KEY AUTOINCREMENT, project_id INTEGER NOT NULL REFERENCES projects(id),
    name TEXT NOT NULL, phases TEXT, modes TEXT, templates TEXT, cmd_dependencies TEXT, next_skills TEXT,
    directives TEXT, updated_at TEXT DEFAULT (datetime('now')), UNIQUE(project_id, name));
CREATE TABLE tasks (dir_path TEXT PRIMARY KEY, project_id INTEGER NOT NULL REFERENCES projects(id), workspace TEXT,
    title TEXT, description TEXT, keywords TEXT, created_at TEXT DEFAULT (datetime('now')));
CREATE TABLE efforts (id INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id TEXT NOT NULL REFERENCES tasks(dir_path) ON DELETE CASCADE, skill TEXT NOT NULL, mode TEXT,
    ordinal INTEGER NOT NULL, lifecycle TEXT NOT NULL DEFAULT 'active', current_phase TEXT,
    discovered_directives TEXT, discovered_directories TEXT, metadata TEXT, created_at TEXT DEFAULT (datetime('now')),
    finished_at TEXT, UNIQUE(task_id, ordinal));
CREATE TABLE sessions (id INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id TEXT NOT NULL REFERENCES tasks(dir_path) ON DELETE CASCADE,
    effort_id INTEGER NOT NULL REFERENCES efforts(id), prev_session_id INTEGER REFERENCES sessions(id), pid INTEGER,
    heartbeat_counter INTEGER DEFAULT 0, last_heartbeat TEXT, context_usage REAL, loaded_files TEXT,
    dehydration_payload TEXT, created_at TEXT DEFAULT (datetime('now')), ended_at TEXT);
CREATE TABLE phase_history (id INTEGER PRIMARY KEY AUTOINCREMENT,
    effort_id INTEGER NOT NULL REFERENCES efforts(id) ON DELETE CASCADE, phase_label TEXT NOT NULL, proof TEXT,
    created_at TEXT DEFAULT (datetime('now')));
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id INTEGER NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, role TEXT NOT NULL, content TEXT NOT NULL,
    tool_name TEXT, timestamp TEXT DEFAULT (datetime('now')));
CREATE TABLE agents (id TEXT PRIMARY KEY, label TEXT, claims TEXT, effort_id INTEGER REFERENCES efforts(id));
CREATE TABLE embeddings (id INTEGER PRIMARY KEY, source_type TEXT NOT NULL, source_path TEXT NOT NULL, chunk_text TEXT,
    embedding BLOB, updated_at TEXT DEFAULT (datetime('now')));
"""
VECTOR = struct.pack("<4f", 0.25, -1.5, 3.0, 0.0)
ENGINE_ROWS: dict[str, list[tuple[Any, ...]]] = {
    "projects": [(1, "/shop", "Shop", "2026-02-20 08:00:00")],
    "skills": [
        (
            1,
            1,
            "brainstorm",
            '["1: Dialogue"]',
            '{"focused": {}}',
            "{}",
            '["a.md"]',
            '["implement"]',
            '["B"]',
            "2026-02-20",
        ),
    ],
    "tasks": [
        ("sessions/CART", 1, "apps/cart", "The cart", "Make it round", "cart,wheel", "2026-02-20 08:01:00"),
        ("/shop/sessions/TILL", 1, None, None, None, None, "2026-02-20 08:02:00"),
    ],
    "efforts": [
        (
            1,
            "sessions/CART",
            "brainstorm",
            "focused",
            1,
            "finished",
            "1: Dialogue",
            '["A.md"]',
            '["/shop/src"]',
            '{"taskSummary": "round"}',
            "2026-02-20 08:03:00",
            "2026-02-20 09:00:00",
        ),
        (4, "sessions/CART", "implement", None, 2, "active", None, None, None, "no json", "2026-02-20 09:01:00", None),
    ],
    "sessions": [
        (
            1,
            "sessions/CART",
            1,
            None,
            4711,
            3,
            "2026-02-20 08:30:00",
            0.97,
            '["/shop/a.py"]',
            '{"summary": "half"}',
            "2026-02-20 08:03:01",
            "2026-02-20 08:31:00",
        ),
        (2, "sessions/CART", 4, 1, 4712, 0, None, 7.5, None, None, "2026-02-20 08:31:01", None),
    ],
    "phase_history": [
        (1, 1, "1: Dialogue", '{"questions": 3}', "2026-02-20 08:04:00"),
        (2, 1, "1.1: Deeper", None, "2026-02-20 08:05:00"),
    ],
    "messages": [
        (1, 1, "user", "make the cart round", None, "2026-02-20 08:03:02"),
        (2, 1, "tool", "cart.py", "Bash", "2026-02-20 08:03:03"),
        (3, 1, "oracle", "it shall be so", None, "2026-02-20 08:03:04"),
        (4, 2, "assistant", "done", None, "2026-02-20 08:32:00"),
    ],
    "agents": [("pane-1", "Left", '["implement"]', 4), ("pane-2", None, "fix, plan", None)],
    "embeddings": [
        (1, "doc", "docs/cart.md", "the cart", VECTOR, "2026-02-20 10:00:00"),
        (2, "doc", "docs/none.md", None, None, None),
    ],
}

GZA_DDL = {
    1: """CREATE TABLE schema_version (version INTEGER PRIMARY KEY);
CREATE TABLE tasks (id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'pending',
    task_type TEXT NOT NULL DEFAULT 'task', task_id TEXT, branch TEXT, log_file TEXT, report_file TEXT,
    based_on INTEGER REFERENCES tasks(id), has_commits INTEGER, duration_seconds REAL, num_turns INTEGER, cost_usd REAL,
    created_at TEXT NOT NULL, started_at TEXT, completed_at TEXT);""",
    2: """ALTER TABLE tasks ADD COLUMN "group" TEXT;
ALTER TABLE tasks ADD COLUMN depends_on INTEGER REFERENCES tasks(id);
ALTER TABLE tasks ADD COLUMN spec TEXT;
ALTER TABLE tasks ADD COLUMN create_review INTEGER DEFAULT 0;""",
    3: "ALTER TABLE tasks ADD COLUMN same_branch INTEGER DEFAULT 0;",
    4: "ALTER TABLE tasks ADD COLUMN task_type_hint TEXT; ALTER TABLE tasks ADD COLUMN output_content TEXT;",
    5: "ALTER TABLE tasks ADD COLUMN session_id TEXT;",
}
GZA_TASKS: list[dict[str, Any]] = [
    {
        "id": 1,
        "prompt": "plan the cart",
        "status": "completed",
        "task_type": "plan",
        "task_id": "20260107-plan",
        "report_file": ".gza/plans/1.md",
        "has_commits": 0,
        "duration_seconds": 61.5,
        "num_turns": 7,
        "cost_usd": 0.25,
        "created_at": "2026-01-07T10:00:00+00:00",
        "started_at": "2026-01-07T10:01:00+00:00",
        "completed_at": "2026-01-07T10:02:01.500000+00:00",
        "group": "cart/round",
        "spec": "specs/cart.md",
        "output_content": "# The plan",
        "session_id": "0c1f",
    },
    {
        "id": 2,
        "prompt": "build it",
        "status": "unmerged",
        "task_type": "implement",
        "branch": "gza/build",
        "log_file": ".gza/logs/2.log",
        "based_on": 1,
        "depends_on": 1,
        "has_commits": 1,
        "same_branch": 1,
        "created_at": "2026-01-07T11:00:00+00:00",
        "started_at": "2026-01-07T11:01:00+00:00",
        "completed_at": "2026-01-07T11:09:00+00:00",
        "group": "cart/round",
        "create_review": 1,
    },
    {
        "id": 3,
        "prompt": "look",
        "status": "failed",
        "task_type": "review",
        "based_on": 2,
        "depends_on": 4,
        "created_at": "2026-01-07T12:00:00+00:00",
        "started_at": "2026-01-07T12:01:00+00:00",
    },
    {"id": 4, "prompt": "later", "status": "pending", "task_type": "task", "created_at": "2026-01-07T13:00:00+00:00"},
]

TRACT_DDL = {
    2: """CREATE TABLE _trace_meta (key VARCHAR(255) PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE blobs (content_hash VARCHAR(64) PRIMARY KEY, payload_json TEXT NOT NULL, byte_size INTEGER NOT NULL,
    token_count INTEGER NOT NULL, created_at DATETIME NOT NULL);
CREATE TABLE commits (commit_hash VARCHAR(64) PRIMARY KEY, tract_id VARCHAR(64) NOT NULL,
    parent_hash VARCHAR(64) REFERENCES commits(commit_hash) ON DELETE SET NULL,
    content_hash VARCHAR(64) NOT NULL REFERENCES blobs(content_hash), content_type VARCHAR(50) NOT NULL,
    operation VARCHAR(6) NOT NULL, response_to VARCHAR(64) REFERENCES commits(commit_hash) ON DELETE SET NULL,
    message TEXT, token_count INTEGER NOT NULL, metadata_json JSON, generation_config_json JSON,
    created_at DATETIME NOT NULL);
CREATE TABLE refs (tract_id VARCHAR(64), ref_name VARCHAR(255), commit_hash VARCHAR(64) REFERENCES commits(commit_hash),
    symbolic_target VARCHAR(255), PRIMARY KEY (tract_id, ref_name));
CREATE TABLE annotations (id INTEGER PRIMARY KEY AUTOINCREMENT, tract_id VARCHAR(64) NOT NULL,
    target_hash VARCHAR(64) NOT NULL REFERENCES commits(commit_hash), priority VARCHAR(6) NOT NULL, reason TEXT,
    created_at DATETIME NOT NULL);
CREATE TABLE commit_parents (commit_hash VARCHAR(64), parent_hash VARCHAR(64), position INTEGER NOT NULL,
    PRIMARY KEY (commit_hash, parent_hash));""",
    3: """CREATE TABLE compressions (compression_id VARCHAR(64) PRIMARY KEY, tract_id VARCHAR(64) NOT NULL,
    branch_name VARCHAR(255), created_at DATETIME NOT NULL, original_tokens INTEGER NOT NULL,
    compressed_tokens INTEGER NOT NULL, target_tokens INTEGER, instructions TEXT);
CREATE TABLE compression_sources (compression_id VARCHAR(64), commit_hash VARCHAR(64), position INTEGER NOT NULL,
    PRIMARY KEY (compression_id, commit_hash));
CREATE TABLE compression_results (compression_id VARCHAR(64), commit_hash VARCHAR(64), position INTEGER NOT NULL,
    PRIMARY KEY (compression_id, commit_hash));""",
    4: """CREATE TABLE spawn_pointers (id INTEGER PRIMARY KEY AUTOINCREMENT, parent_tract_id VARCHAR(64) NOT NULL,
    parent_commit_hash VARCHAR(64) REFERENCES commits(commit_hash) ON DELETE SET NULL,
    child_tract_id VARCHAR(64) NOT NULL, purpose TEXT NOT NULL, inheritance_mode VARCHAR(20) NOT NULL,
    display_name VARCHAR(255), created_at DATETIME NOT NULL);""",
}
CONTENTS: dict[str, dict[str, Any]] = {
    "rule": {"content_type": "instruction", "text": "be brief"},
    "ask": {"content_type": "dialogue", "role": "user", "text": "make it rund", "name": "ada"},
    "fix": {"content_type": "dialogue", "role": "user", "text": "make it round"},
    "fix2": {"content_type": "dialogue", "role": "user", "text": "make it very round"},
    "call": {"content_type": "tool_io", "tool_name": "grep", "direction": "call", "payload": {"pattern": "cart"}},
    "file": {"content_type": "artifact", "artifact_type": "code", "content": "x = 1", "language": "python"},
    "odd": {"content_type": "haiku", "lines": ["an old pond"]},
    "side": {"content_type": "dialogue", "role": "assistant", "text": "on the side"},
    "join": {"content_type": "freeform", "payload": {"merged": True}},
    "lost": {"content_type": "reasoning", "text": "nobody names me"},
    "kid": {"content_type": "session", "session_type": "start", "summary": "begun", "decisions": ["yes"]},
}
_COMMITS = [
    ("rule", None, "APPEND", None),
    ("ask", "rule", "APPEND", None),
    ("call", "ask", "APPEND", "ask"),
    ("fix", "call", "EDIT", "ask"),
    ("fix2", "fix", "EDIT", "fix"),
    ("file", "fix2", "APPEND", None),
    ("odd", "file", "APPEND", None),
    ("side", "ask", "APPEND", None),
    ("join", "odd", "APPEND", None),
    ("lost", "rule", "APPEND", None),
    ("kid", None, "APPEND", None),
]


def named(word: str) -> str:
    """The hash of a commit or a content of tract."""
    return hashlib.sha256(word.encode()).hexdigest()


def _fill(database: sqlite3.Connection, table: str, rows: list[Any]) -> None:
    for row in rows:
        columns = row if isinstance(row, dict) else None
        names = "" if columns is None else "(" + ", ".join(f'"{name}"' for name in columns) + ")"
        values = tuple(row.values()) if columns is not None else row
        database.execute(f"INSERT INTO {table} {names} VALUES ({', '.join('?' * len(values))})", values)


def make_engine(path: Path, version: int = 0, **changes: list[tuple[Any, ...]]) -> Path:
    """A database of Engine v3, with other rows in some tables."""
    with sqlite3.connect(path) as database:
        database.executescript(ENGINE_DDL)
        database.execute(f"PRAGMA user_version = {version}")
        for table, rows in {**ENGINE_ROWS, **changes}.items():
            _fill(database, table, rows)
    database.close()
    return path


def make_gza(path: Path, version: int = 3, tasks: list[dict[str, Any]] | None = None, said: int | None = None) -> Path:
    """A database of gza. Columns that a version does not have are left out."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as database:
        for number in range(1, min(version, 5) + 1):
            database.executescript(GZA_DDL[number])
        database.execute("INSERT INTO schema_version VALUES (?)", (version if said is None else said,))
        known = {row[1] for row in database.execute("PRAGMA table_info(tasks)")}
        chosen = GZA_TASKS if tasks is None else tasks
        _fill(database, "tasks", [{name: task[name] for name in task if name in known} for task in chosen])
    database.close()
    return path


def make_tract(path: Path, version: int = 4, said: str | None = None) -> Path:
    """A database of tract, with two tracts, a merge, edits, an end that no ref names, and a spawn."""
    with sqlite3.connect(path) as database:
        for number in range(2, min(version, 4) + 1):
            database.executescript(TRACT_DDL[number])
        _fill(database, "_trace_meta", [("schema_version", said or str(version))])
        for place, (word, content) in enumerate(CONTENTS.items()):
            payload = json.dumps(content)
            when = f"2026-02-0{place % 9 + 1} 10:00:00.000000"
            _fill(database, "blobs", [(named(f"blob {word}"), payload, len(payload), 5, when)])
        for place, (word, parent, operation, target) in enumerate(_COMMITS):
            row = (
                named(word),
                "child-1" if word == "kid" else "root-1",
                parent and named(parent),
                named(f"blob {word}"),
                CONTENTS[word]["content_type"],
                operation,
                target and named(target),
                f"message {word}",
                10 + place,
                json.dumps({"k": word}) if word == "file" else None,
                json.dumps({"model": "m"}) if word == "side" else None,
                f"2026-02-10 10:00:{place:02}.250000",
            )
            _fill(database, "commits", [row])
        _fill(database, "commit_parents", [(named("join"), named("odd"), 0), (named("join"), named("side"), 1)])
        _fill(
            database,
            "refs",
            [
                ("root-1", "HEAD", None, "refs/heads/main"),
                ("root-1", "refs/heads/main", named("join"), None),
                ("root-1", "refs/heads/idea", named("side"), None),
                ("child-1", "HEAD", None, "refs/heads/main"),
                ("child-1", "refs/heads/main", named("kid"), None),
            ],
        )
        _fill(
            database,
            "annotations",
            [
                (1, "root-1", named("ask"), "SKIP", "noise", "2026-02-11 10:00:00.000000"),
                (2, "root-1", named("ask"), "PINNED", None, "2026-02-11 10:00:01.000000"),
            ],
        )
        if version >= 3:
            _fill(database, "compressions", [("c1", "root-1", "main", "2026-02-12 10:00:00", 100, 10, None, "short")])
            _fill(database, "compression_sources", [("c1", named("rule"), 0)])
            _fill(database, "compression_results", [("c1", named("join"), 0)])
        if version >= 4:
            spawn = (1, "root-1", named("ask"), "child-1", "look around", "head_snapshot", "Kid", "2026-02-12 11:00:00")
            _fill(database, "spawn_pointers", [spawn])
    database.close()
    return path


CHECKPOINT: dict[str, Any] = {
    "execution_id": "spawn-123",
    "plan_id": "plan/7",
    "started_at": "2026-01-15T08:00:00Z",
    "tasks": [
        {
            "id": "1",
            "status": "completed",
            "result": "JWT",
            "error": None,
            "started_at": "2026-01-15T08:00:00Z",
            "completed_at": "2026-01-15T08:05:00Z",
            "metadata": {"description": "Analyze auth", "agent": "@qa"},
        },
        {
            "id": "2",
            "status": "failed",
            "result": None,
            "error": "timeout",
            "started_at": "2026-01-15T08:05:00Z",
            "completed_at": "2026-01-15T08:06:00Z",
            "metadata": {},
        },
        {
            "id": "3",
            "status": "pending",
            "result": None,
            "error": None,
            "started_at": None,
            "completed_at": None,
            "metadata": {},
        },
        {"id": "4", "status": "in_progress", "started_at": "2026-01-15T08:06:00Z"},
        {"id": "5", "status": "skipped", "extra": [1, 2]},
    ],
    "last_checkpoint": "2026-01-15T08:07:00Z",
    "interrupted": True,
    "metadata": {"host": "laptop"},
}
CONVERSATION: list[dict[str, Any]] = [
    {"role": "user", "content": "Analyze auth", "timestamp": "2026-01-15T08:00:00", "tokens": 3, "metadata": {}},
    {
        "role": "assistant",
        "content": "Auth uses JWT",
        "timestamp": "2026-01-15T08:05:00",
        "tokens": 4,
        "metadata": {"model": "m"},
    },
    {"role": "user", "content": "Analyze auth", "timestamp": "2026-01-15T08:00:00", "tokens": None, "metadata": {}},
]


def make_aurora(path: Path, **changes: Any) -> Path:
    """A checkpoint of Aurora, with other fields."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**CHECKPOINT, **changes}, indent=2), encoding="utf-8")
    return path


def event(place: int, kind: str, data: dict[str, Any], session: str = "sess_a", **more: Any) -> dict[str, Any]:
    """An event of WorkRail."""
    return {
        "v": 1,
        "eventId": f"evt_{place}",
        "eventIndex": place,
        "sessionId": session,
        "kind": kind,
        "dedupeKey": f"{kind}:{place}",
        "data": data,
        "timestampMs": 1_776_000_000_000 + 1000 * place,
        **more,
    }


def workrail_events(session: str = "sess_a", parent: str | None = None) -> list[dict[str, Any]]:
    """The log of a session that has ended."""
    scope = {"runId": "run_1", "nodeId": "node_1"}
    said: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("session_created", {"parentSessionId": parent} if parent else {}, {}),
        (
            "observation_recorded",
            {"key": "repo_root", "value": {"type": "path", "value": "/shop"}, "confidence": "high"},
            {},
        ),
        (
            "observation_recorded",
            {"key": "git_branch", "value": {"type": "short_string", "value": "main"}, "confidence": "high"},
            {},
        ),
        (
            "run_started",
            {"workflowId": "wr.review", "workflowHash": "sha256:" + "0" * 64},
            {"scope": {"runId": "run_1"}},
        ),
        ("node_created", {"nodeKind": "step", "parentNodeId": None}, {"scope": scope}),
        (
            "context_set",
            {"contextId": "c1", "context": {"goal": "Review the cart", "is_autonomous": True}, "source": "initial"},
            {"scope": {"runId": "run_1"}},
        ),
        (
            "node_output_appended",
            {
                "outputId": "o1",
                "outputChannel": "recap",
                "payload": {"payloadKind": "notes", "notesMarkdown": "It is round."},
            },
            {"scope": scope},
        ),
        ("gap_recorded", {"gapId": "g1", "severity": "warning", "summary": "no tests"}, {"scope": scope}),
        (
            "decision_trace_appended",
            {"traceId": "t1", "entries": [{"kind": "entered_loop", "summary": "again"}]},
            {"scope": scope},
        ),
        (
            "advance_recorded",
            {"attemptId": "a1", "intent": "ack_pending", "outcome": {"kind": "advanced", "toNodeId": "node_2"}},
            {"scope": scope},
        ),
        (
            "run_completed",
            {
                "startGitSha": "a" * 40,
                "endGitSha": "b" * 40,
                "gitBranch": "main",
                "agentCommitShas": ["b" * 40],
                "captureConfidence": "high",
            },
            {"scope": {"runId": "run_1"}},
        ),
    ]
    return [event(place, kind, data, session, **more) for place, (kind, data, more) in enumerate(said)]


def _jsonl(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def make_workrail_file(path: Path, events: list[dict[str, Any]] | None = None) -> Path:
    """A session in one file."""
    path.write_bytes(_jsonl(workrail_events() if events is None else events))
    return path


def make_workrail(folder: Path, events: list[dict[str, Any]]) -> Path:
    """A session in its folder: two segments and the manifest that lists them."""
    (folder / "events").mkdir(parents=True)
    records: list[dict[str, Any]] = []
    for part in (events[:3], events[3:]):
        first, last = part[0]["eventIndex"], part[-1]["eventIndex"]
        name, data = f"events/{first:08}-{last:08}.jsonl", _jsonl(part)
        (folder / name).write_bytes(data)
        records.append(
            {
                "v": 1,
                "manifestIndex": len(records),
                "sessionId": part[0]["sessionId"],
                "kind": "segment_closed",
                "firstEventIndex": first,
                "lastEventIndex": last,
                "segmentRelPath": name,
                "sha256": f"sha256:{hashlib.sha256(data).hexdigest()}",
                "bytes": len(data),
            }
        )
    (folder / "manifest.jsonl").write_bytes(_jsonl(records))
    return folder


def all_rows(path: Path) -> Rows:
    """Every row and column of a SQLite file, read without Ramet."""
    database = sqlite3.connect(path)
    tables = [row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    found: Rows = {}
    for table in tables:
        if table.startswith("sqlite_"):
            continue
        info = database.execute(f"PRAGMA table_info({table})").fetchall()
        keys = [each[1] for each in sorted((each for each in info if each[5]), key=lambda each: each[5])]
        names = [each[1] for each in info]
        for row in database.execute(f"SELECT * FROM {table}"):
            columns = dict(zip(names, row, strict=True))
            found.setdefault(table, {})[":".join(str(columns[key]) for key in keys)] = columns
    database.close()
    return found
