"""Trees of sessions: the operation that shows one, with status and cost, against one raw query of the same rows; and
whether a spawn, or a call that counts for a budget, stays as fast when its tree grows.
"""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import apsw
import msgspec

from benchmarks.daemons import places_in
from benchmarks.harness import Row, interleaved, scratch, timed
from benchmarks.postgres import schema, server
from ramet.clock import SystemClock
from ramet.config.settings import DatabaseSettings, SpawnSettings
from ramet.engine import Engine
from ramet.engine.transaction import Rules
from ramet.faults import Faults
from ramet.model.redaction import Redactor
from ramet.protocol.operations import OPERATIONS
from ramet.protocol.wire.frames import decode_params
from ramet.store import open_store
from ramet.store.database.blobs import Codec
from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile

_TREE = QueryFile("spawn/trees").of_roots
_CHILDREN = 10_000
_DEPTH = 3
_CALLS = 2
_AT = "2026-01-05T08:00:00.000Z"
_SPAWN = SpawnSettings(children=1_000_000, total=1_000_000)


def measure(thorough: bool) -> Iterator[Row]:
    """A large tree on each database, then one that grows."""
    number, rounds = 100_000, 9 if thorough else 3
    with scratch() as folder:
        yield _compare("SQLite", folder, None, number, rounds)
    with scratch() as folder, server(folder) as server_url, schema(server_url) as url:
        yield _compare("PostgreSQL", folder, url, number, rounds)
    yield from _growth(10, _CHILDREN if thorough else _CHILDREN // 5, rounds=100)


class Site:
    """An engine on a database of its own."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self._engine = Engine(Rules(spawn=_SPAWN), codec=Codec(), redactor=Redactor())

    def ask(self, name: str, **params: Any) -> Any:
        """One operation in one transaction."""
        operation = OPERATIONS[name]
        call = self._engine.prepare(operation, decode_params(operation, msgspec.json.encode(params)), "user")
        if operation.changes:
            self.db.begin(locks_rows=operation.locks_rows)
        else:
            self.db.begin_reading()
        reply = self._engine.perform(self.db, call, time.time_ns() // 1_000_000)
        self.db.commit()
        return reply

    def write(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Rows by the thousand, past the engine."""
        database: Any = self.db.database  # type: ignore[attr-defined]
        if isinstance(database, apsw.Connection):
            with database:
                database.executemany(statement, rows)
        else:
            with database.transaction():
                database.cursor().executemany(statement.replace("?", "%s"), rows)

    def read_raw(self) -> int:
        """The same rows, as the database's own module gives them."""
        database: Any = self.db.database  # type: ignore[attr-defined]
        params = {"ids": "[1]", "only": None, "characters": 200, "now": _AT}
        text = _TREE.sqlite if isinstance(database, apsw.Connection) else _TREE.postgres
        return len(database.execute(text, params).fetchall())


@contextmanager
def opened(folder: Path, url: str | None) -> Iterator[Site]:
    """An engine on the database of a folder, or of a server."""
    settings = DatabaseSettings() if url is None else DatabaseSettings(type="postgres", url=url)
    store = open_store(settings, places_in(folder), clock=SystemClock(), faults=Faults())
    db = store.connect()
    try:
        yield Site(db)
    finally:
        store.close()
        if url is not None:
            db.close()


def _compare(database: str, folder: Path, url: str | None, number: int, rounds: int) -> Row:
    with opened(folder, url) as site:
        plant(site, number)
        return _against_raw(f"{database}: tree of {number:,} sessions with status and cost", site, number, rounds)


def _against_raw(what: str, site: Site, number: int, rounds: int) -> Row:
    shown: list[Any] = []

    def show() -> None:
        shown[:] = site.ask("spawn.tree", session_id=1).items

    def raw() -> None:
        assert site.read_raw() == number

    show()
    assert len(shown) == number
    assert shown[0].total_tokens == sum(row.tokens for row in shown)
    ours, floor = interleaved(partial(timed, show), partial(timed, raw), rounds=rounds)
    encoded = timed(lambda: msgspec.json.encode(shown))
    details = {"ms": ours * 1000, "raw_ms": floor * 1000, "encode_ms": encoded * 1000}
    rounded: dict[str, float] = {name: round(value, 1) for name, value in details.items()}
    return Row(what, "one raw query of the same rows", "<= 2", ours / floor, ours / floor <= 2, rounded)


def plant(site: Site, number: int) -> None:
    """A tree: many children of the root, and the others anywhere below; every hundredth is at work."""
    site.ask("db.project.upsert", path="/bench")
    site.ask("db.task.upsert", dir_path="/bench/task")
    chance = random.Random(1)
    parents: list[int | None] = [None, None]
    depths = [0, 0]
    for session in range(2, number + 1):
        parent = 1
        while session > _CHILDREN + 1 and (parent == 1 or depths[parent] >= _DEPTH):
            parent = chance.randrange(2, session)
        parents.append(parent)
        depths.append(depths[parent] + 1)
    numbers = range(1, number + 1)
    site.write("INSERT INTO branches (name, created_ms) VALUES (?, 0)", ((f"session/{each}",) for each in numbers))
    site.write(
        "INSERT INTO efforts (id, task_id, skill, ordinal, lifecycle, finished_at, outcome, prompt, output_content)"
        " VALUES (?, '/bench/task', 'do', ?, ?, ?, ?, ?, ?)",
        ((each, each, *_state(each), f"look into part {each} of the shop", "x" * 500) for each in numbers),
    )
    site.write(
        "INSERT INTO sessions (id, task_id, effort_id, parent_session_id, root_session_id, spawn_depth, driver,"
        " native_id, branch, created_at, last_heartbeat, ended_at, outcome)"
        " VALUES (?, '/bench/task', ?, ?, 1, ?, 'claude', ?, ?, ?, ?, ?, ?)",
        (
            (each, each, parents[each], depths[each], f"n{each}", f"session/{each}", _AT, _AT, *_state(each)[1:])
            for each in numbers
        ),
    )
    calls = ((each, f"call {call}") for each in numbers for call in range(_CALLS))
    columns = "model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd"
    site.write(f"INSERT INTO usage (session_id, key, {columns}) VALUES (?, ?, 'model', 900, 100, 5000, 0, 0.01)", calls)
    # The same by time, as `db.check` wants it.
    site.write(
        f"INSERT INTO usage_times (session_id, at_ms, calls, {columns})"
        f" VALUES (?, 0, {_CALLS}, 'model', {_CALLS * 900}, {_CALLS * 100}, {_CALLS * 5000}, 0, {_CALLS * 0.01})",
        ((each,) for each in numbers),
    )


def _state(session: int) -> tuple[str, str | None, str | None]:
    return ("active", None, None) if session % 100 == 0 else ("finished", _AT, "success")


def _growth(small: int, large: int, rounds: int) -> Iterator[Row]:
    """A spawn with a budget of its own, and a call that counts for the root's: in a small tree and in a large one, in
    turn.
    """
    with scratch() as one, scratch() as other, opened(one, None) as few, opened(other, None) as many:
        spawns, calls = zip(*(_grown(site, number) for site, number in ((few, small), (many, large))), strict=True)
        yield _against_raw(f"SQLite: tree of {large:,} spawns from one root", many, large + 1, rounds // 10)
        for name, jobs in (("a spawn with a budget", spawns), ("a call that a budget counts", calls)):
            first, last = interleaved(*(partial(timed, job) for job in jobs), rounds=rounds)
            details: dict[str, float] = {"us": round(last * 1e6), "first_us": round(first * 1e6)}
            what = f"{name}, in a tree of {large:,} children of one root"
            yield Row(what, f"in one of {small}", "", last / first, True, details)


def _grown(site: Site, number: int) -> tuple[Callable[[], None], Callable[[], None]]:
    """A root with a budget and so many children; what spawns the next one, and what the root's next call is."""
    site.ask("db.project.upsert", path="/bench")
    effort = site.ask("work.add", prompt="nothing", task="/bench/task", skill="do")
    claimed = site.ask("work.claim", worker="bench", effort_id=effort.id)
    begun = {"driver": "command", "agent_id": "bench", "instance": "keeper01", "prompt": "go"}
    root = site.ask("work.begin", effort_id=effort.id, generation=claimed.generation, **begun).session.id
    site.ask("budget.set", session_id=root, tokens=2**50)
    numbers = count(1)

    def spawn() -> None:
        site.ask("spawn.agent", parent_session_id=root, goal="look into it", limits={"tokens": 10})

    def call() -> None:
        seq = next(numbers)
        used = {"kind": "usage", "key": str(seq), "input_tokens": 1}
        site.ask("work.report", session_id=root, instance="keeper01", seq=seq, events=[used])

    for _ in range(number):
        spawn()
    return spawn, call
