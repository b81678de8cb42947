"""A large index: how long it takes to build, how much memory that needs, and how fast it answers.

    python -m benchmarks.search_load 300000

The database is filled with SQL, because only its rows matter here. The index is built and asked in a process of its
own, by the code that the daemon runs.
"""

import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import apsw

from benchmarks.search_corpus import many_messages
from ramet.clock import SystemClock
from ramet.config.settings import Settings
from ramet.engine import Engine
from ramet.engine.memory.search.index_feed import IndexFeed
from ramet.engine.transaction import Rules
from ramet.faults import Faults
from ramet.model.redaction import Redactor
from ramet.protocol.memory.search import SearchMemory
from ramet.store import Store, open_store
from ramet.store.database.blobs import Codec
from ramet.store.memory.index.search_index import SearchIndex

from .daemons import places_in

_PER_SESSION = 50
_QUERIES = 400
_PAGE = 5000


def fill(folder: Path, number: int) -> None:
    """A database with this many messages."""
    store = open_store(Settings().database, places_in(folder), clock=SystemClock(), faults=Faults())
    db = store.connect().database  # type: ignore[attr-defined]
    db.execute("PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF")
    db.execute("INSERT INTO projects (id, path) VALUES (1, '/p')")
    db.execute("INSERT INTO tasks (dir_path, project_id) VALUES ('/p/t', 1)")
    db.execute("INSERT INTO efforts (id, task_id, skill, ordinal) VALUES (1, '/p/t', 'do', 1)")
    codec, rows = Codec(), many_messages(3, number)
    for start in range(1, number + 1, _PAGE):
        page = [(at, *next(rows)) for at in range(start, min(start + _PAGE, number + 1))]
        with db:
            _insert(db, codec, page)
    store.close()


def _insert(db: apsw.Connection, codec: Codec, page: list[tuple[int, str, str]]) -> None:
    sessions = sorted({at // _PER_SESSION + 1 for at, _, _ in page})
    names = [(number, f"session/{number}", number) for number in sessions]
    db.executemany("INSERT OR IGNORE INTO branches (id, name, created_ms) VALUES (?, ?, 0)", [row[:2] for row in names])
    db.executemany(
        "INSERT OR IGNORE INTO sessions (id, task_id, effort_id, root_session_id, branch, driver)"
        " VALUES (?, '/p/t', 1, ?, ?, 'claude')",
        [(number, number, name) for number, name, _ in names],
    )
    db.executemany("INSERT OR IGNORE INTO segments (id) VALUES (?)", [(number,) for number in sessions])
    blobs = [(at, codec.pack(f"{text} {at}".encode())) for at, _, text in page]
    db.executemany(
        "INSERT INTO blobs (id, hash, codec, size, data) VALUES (?, ?, ?, ?, ?)",
        [(at, blob.hash, blob.codec, blob.size, blob.data) for at, blob in blobs],
    )
    db.executemany(
        "INSERT INTO commits (id, hash, segment_id, seq, blob_id, content_type, role, author, created_ms, tokens,"
        " token_sum) VALUES (?, ?, ?, ?, ?, 'dialogue', ?, 'a', 0, 0, 0)",
        [(at, at.to_bytes(32, "big"), at // _PER_SESSION + 1, at, at, role) for at, role, _ in page],
    )
    db.executemany(
        "INSERT INTO messages (id, session_id, role, commit_id, timestamp) VALUES (?, ?, ?, ?, ?)",
        [(at, at // _PER_SESSION + 1, role, at, 1_700_000_000_000 + at * 1000) for at, role, _ in page],
    )


def queries(number: int) -> list[str]:
    """What people ask: two to six words of one message, common and rare ones as they come."""
    rng = random.Random(4)
    texts = [text for at, (_, text) in enumerate(many_messages(3, min(number, 20_000))) if at % 40 == 0]
    return [
        " ".join(rng.sample(text.split(), min(len(text.split()), rng.randint(2, 6))))
        for text in rng.choices(texts, k=_QUERIES)
    ]


def build_and_ask(folder: Path, number: int) -> dict[str, Any]:
    """In the measured process."""
    store = open_store(Settings().database, places_in(folder), clock=SystemClock(), faults=Faults())
    index = SearchIndex(folder / "search.db")
    feed, db = IndexFeed(index, Codec()), store.connect_reader()
    before, started, steps = _rss(), time.perf_counter(), []
    has_more = True
    while has_more:
        begun = time.perf_counter()
        db.begin_reading()
        has_more = feed.step(db)
        db.rollback()
        steps.append(time.perf_counter() - begun)
    built = time.perf_counter() - started
    after = _rss()
    times, rungs = _ask(store, index, number)
    size = sum(path.stat().st_size for path in folder.glob("search.db*"))
    result = {
        "messages": number,
        "build_seconds": round(built, 1),
        "step_p50_ms": round(1000 * statistics.median(steps), 2),
        "step_p99_ms": round(1000 * statistics.quantiles(steps, n=100)[98], 2),
        "rss_before_mb": before,
        "rss_peak_building_mb": after,
        "rss_peak_mb": _rss(),
        "index_mb": size >> 20,
        "query_p50_ms": round(1000 * statistics.median(times), 1),
        "query_p95_ms": round(1000 * statistics.quantiles(times, n=20)[18], 1),
        "query_max_ms": round(1000 * max(times), 1),
        "rungs": rungs,
    }
    store.close()
    return result


def _ask(store: Store, index: SearchIndex, number: int) -> tuple[list[float], dict[str, int]]:
    engine = Engine(Rules(), codec=Codec(), redactor=Redactor(), index=index)
    db, rungs = store.connect_reader(), dict[str, int]()
    times = []
    for text in queries(number):
        request = SearchMemory(query=text)
        begun = time.perf_counter()
        db.begin_reading()
        page = engine.perform(db, engine.prepare(SearchMemory.op, request, "user"), 1_800_000_000_000)
        db.rollback()
        times.append(time.perf_counter() - begun)
        rung = page.items[0].rung if page.items else "none"
        rungs[rung] = rungs.get(rung, 0) + 1
    return times, rungs


def _rss() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def measure(number: int, folder: Path) -> dict[str, Any]:
    """Fill a database, then build its index and ask it in a process of its own."""
    fill(folder, number)
    command = [sys.executable, "-m", "benchmarks.search_load", str(number), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ.copy())
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main(arguments: list[str]) -> None:
    """Measure, or be the process that is measured."""
    number = int(arguments[0]) if arguments else 100_000
    if len(arguments) > 1:
        print(json.dumps(build_and_ask(Path(arguments[1]), number)))
        return
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(number, Path(folder)), indent=2))


if __name__ == "__main__":
    main(sys.argv[1:])
