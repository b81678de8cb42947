"""The floor of a durable append: one process that does the same work raw, with nothing around it.

It redacts, hashes and compresses the same text, writes the same rows into the same tables with the same indexes, and
flushes as often; but it decodes no request, checks nothing, answers nobody, and keeps the head of the branch in a
variable.
"""

import hashlib
import time
from pathlib import Path

import apsw

from benchmarks.corpus import messages
from ramet.clock import SystemClock
from ramet.config.settings import DatabaseSettings
from ramet.faults import Faults
from ramet.model.redaction import Redactor
from ramet.store import open_store
from ramet.store.database.blobs import Codec

from .daemons import places_in


def raw_appends(folder: Path, per_transaction: int, seconds: float) -> float:
    """Durable appends per second, so many to a transaction."""
    store = open_store(DatabaseSettings(), places_in(folder), clock=SystemClock(), faults=Faults())
    try:
        return _appends(store.connect().database, per_transaction, seconds)  # type: ignore[attr-defined]
    finally:
        store.close()


def _appends(database: apsw.Connection, per_transaction: int, seconds: float) -> float:
    cursor = database.cursor()
    _prepare_rows(cursor)
    texts = messages(4000)
    redactor, codec = Redactor(), Codec()
    head, seq, tokens_before, parent = None, 0, 0, b""
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        cursor.execute("BEGIN IMMEDIATE")
        for _ in range(per_transaction):
            seq += 1
            text = redactor.redact(f"{seq} {texts[seq % len(texts)]}").text
            blob = codec.pack(text.encode())
            parent = hashlib.sha256(b"ramet commit 1\n" + parent + blob.hash + b"assistant").digest()
            now_ms, tokens = time.time_ns() // 1_000_000, len(text) // 4
            tokens_before += tokens
            cursor.execute(
                "INSERT INTO blobs (hash, codec, size, data) VALUES (?, ?, ?, ?)",
                (blob.hash, blob.codec, blob.size, blob.data),
            )
            blob_id = database.last_insert_rowid()
            cursor.execute(
                "INSERT INTO commits (hash, segment_id, seq, parent_id, blob_id, content_type, role, author,"
                " created_ms, tokens, token_sum) VALUES (?, 1, ?, ?, ?, 'dialogue', 'assistant', 'user', ?, ?, ?)",
                (parent, seq, head, blob_id, now_ms, tokens, tokens_before),
            )
            head = database.last_insert_rowid()
            cursor.execute("UPDATE branches SET commit_id = ? WHERE id = 1", (head,))
            cursor.execute(
                "INSERT INTO messages (session_id, role, commit_id, timestamp) VALUES (1, 'assistant', ?, ?)",
                (head, now_ms),
            )
            cursor.execute(
                "INSERT INTO events (kind, at_ms, session_id, data) VALUES ('message.appended', ?, 1, ?)",
                (now_ms, f'{{"message":{seq}}}'),
            )
        cursor.execute("COMMIT")
    return seq / (time.perf_counter() - start)


def _prepare_rows(cursor: apsw.Cursor) -> None:
    for statement in (
        "INSERT INTO projects (path) VALUES ('/bench')",
        "INSERT INTO tasks (dir_path, project_id) VALUES ('/bench/task', 1)",
        "INSERT INTO efforts (task_id, skill, ordinal) VALUES ('/bench/task', 'do', 1)",
        "INSERT INTO segments (base_seq) VALUES (0)",
        "INSERT INTO branches (name, created_ms) VALUES ('session/1', 0)",
        "INSERT INTO sessions (task_id, effort_id, root_session_id, branch) VALUES ('/bench/task', 1, 1, 'session/1')",
    ):
        cursor.execute(statement)
