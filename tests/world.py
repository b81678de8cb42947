"""A world: one open database, an engine on it, and a clock that the test sets.

It runs each operation in one transaction of its own, as a daemon does, and raises what the operation refuses.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from ramet.clock import Clock
from ramet.config.settings import (
    DatabaseSettings,
    DriverSettings,
    HookSettings,
    LimitSettings,
    Places,
    QuerySettings,
    SpawnSettings,
    WorkSettings,
)
from ramet.engine import Call, Engine
from ramet.engine.transaction import Rules
from ramet.faults import Faults
from ramet.model.redaction import Redactor
from ramet.protocol.operation import Request, decode_reply
from ramet.protocol.operations import Operation
from ramet.protocol.wire.frames import decode_params, find_operation
from ramet.store import Store, open_store
from ramet.store.database.blobs import Codec
from ramet.store.database.connection import Connection, Row
from ramet.store.database.operations import answer
from ramet.store.database.queries import Query
from ramet.store.database.sqlite.store import SqliteStore
from ramet.vendors import selection

START_MS = 1_767_600_000_123
"""2026-01-05T08:00:00.123Z."""

PROFILES = selection.confinements(DriverSettings())

DATABASE_NAME = "ramet.db"

_ATTEMPTS = 50

SEED_TABLES = (
    "projects",
    "skills",
    "tasks",
    "efforts",
    "sessions",
    "phase_history",
    "messages",
    "agents",
    "embeddings",
)
OTHER_TABLES = (
    "schema_migrations",
    "blobs",
    "segments",
    "commits",
    "branches",
    "moves",
    "annotations",
    "revisions",
    "tags",
    "content_types",
    "spawn_pointers",
    "collapses",
    "events",
    "idempotency",
    "dependencies",
    "usage",
    "usage_times",
    "notices",
    "refused_calls",
    "runs",
    "findings",
    "parked",
    "hosts",
    "landings",
    "project_paths",
    "budgets",
    "ingests",
    "discoveries",
    "missed_starts",
    "thoughts",
    "tombstones",
    "skill_texts",
    "images",
    "imports",
    "origins",
    "archived_keys",
    "purged_spans",
    "purges",
    "edits",
    "edit_readings",
)

_CHILDREN_FIRST = (
    "landings",
    "edits",
    "edit_readings",
    "archived_keys",
    "purged_spans",
    "purges",
    "imports",
    "images",
    "skill_texts",
    "tombstones",
    "ingests",
    "discoveries",
    "missed_starts",
    "thoughts",
    "budgets",
    "findings",
    "runs",
    "parked",
    "hosts",
    "project_paths",
    "dependencies",
    "usage",
    "usage_times",
    "notices",
    "refused_calls",
    "collapses",
    "spawn_pointers",
    "annotations",
    "revisions",
    "tags",
    "content_types",
    "messages",
    "phase_history",
    "sessions",
    "agents",
    "efforts",
    "tasks",
    "skills",
    "embeddings",
    "projects",
    "moves",
    "branches",
    "commits",
    "segments",
    "blobs",
    "events",
    "idempotency",
)
_RESTART_NUMBERS = """
PERFORM setval(seqrelid, seqstart, false) FROM pg_sequence JOIN pg_class ON pg_class.oid = seqrelid
WHERE relnamespace = current_schema()::regnamespace"""
"""`ALTER TABLE t ALTER id RESTART` would write a new file and new catalog rows for each table."""


class FakeClock:
    """Stands still until it is moved."""

    def __init__(self, now_ms: int = START_MS) -> None:
        self.now = now_ms

    def now_ms(self) -> int:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += int(seconds * 1000)


class World:
    """What a conformance test works with, whichever database is below it."""

    def __init__(
        self,
        store: Store,
        clock: FakeClock,
        limits: LimitSettings | None = None,
        work: WorkSettings | None = None,
        spawn: SpawnSettings | None = None,
        hooks: HookSettings | None = None,
        db: Connection | None = None,
    ) -> None:
        self.store = store
        self.clock = clock
        rules = Rules(
            limits=limits or LimitSettings(),
            work=work or WorkSettings(),
            spawn=spawn or SpawnSettings(),
            hooks=hooks or HookSettings(),
            profiles=PROFILES,
        )
        self.engine = Engine(rules, codec=Codec(), redactor=Redactor())
        self.db = db or store.connect()
        self.is_sqlite = isinstance(store, SqliteStore)

    def call(self, name: str, /, **params: Any) -> Any:
        """One operation in one transaction, its parameters decoded as they come over the wire."""
        return self.call_as("user", name, **params)

    def call_as(self, principal: str, name: str, /, **params: Any) -> Any:
        """The same for somebody else."""
        operation = find_operation(name)
        request = decode_params(operation, json.dumps(params).encode())
        if operation.host == "store":
            return answer(self.store, request, QuerySettings())
        return self.perform(principal, operation, request)

    def perform(self, principal: str, operation: Operation, request: Request[Any]) -> Any:
        """One request in one transaction."""
        reply = self._perform(self.engine.prepare(operation, request, principal))
        return decode_reply(operation.request, reply) if isinstance(reply, msgspec.Raw) else reply

    def _perform(self, call: Call) -> Any:
        for _ in range(_ATTEMPTS):
            try:
                return self._perform_once(call)
            except Exception as error:
                self.db.rollback()
                if type(error).__name__ != "Retry":
                    raise
        raise AssertionError(f"{call.operation.name} was in its own way {_ATTEMPTS} times")

    def _perform_once(self, call: Call) -> Any:
        self.db.begin(locks_rows=call.operation.locks_rows)
        reply = self.engine.perform(self.db, call, self.clock.now_ms())
        self.db.commit()
        return reply

    def sql(self, statement: str, /, **params: Any) -> list[Row]:
        """A statement of the test's own, past the engine and in no transaction."""
        return self.db.all(Query("test", statement, statement), **params)

    def explain(self, query: Query, **params: Any) -> str:
        """How the database would run a query."""
        sqlite, postgres = f"EXPLAIN QUERY PLAN {query.sqlite}", f"EXPLAIN {query.postgres}"
        explained = Query("explain", sqlite, "")
        explained.postgres = postgres
        return "\n".join(str(row[-1]) for row in self.db.all(explained, **params))

    def analyse(self) -> None:
        """Let the database learn how much is in its tables: in its own, not in those that other tests will fill."""
        for table in SEED_TABLES + OTHER_TABLES:
            self.sql(f"ANALYZE {table}")

    def dump(self) -> dict[str, list[str]]:
        """Everything that is stored, by table."""
        return {table: sorted(map(repr, self.sql(f"SELECT * FROM {table}"))) for table in SEED_TABLES + OTHER_TABLES}

    def empty(self) -> None:
        """Put a PostgreSQL schema back to how a migration leaves it."""
        self.db.rollback()
        tables = set(SEED_TABLES + OTHER_TABLES) - {"schema_migrations", "origins"}
        statements = [f"DELETE FROM {table}" for table in _CHILDREN_FIRST]
        statements += [_RESTART_NUMBERS, "PERFORM pg_advisory_unlock_all()"]
        assert sorted(tables) == sorted(_CHILDREN_FIRST)
        self.sql(f"DO $$BEGIN {'; '.join(statements)}; END$$")

    def events(self, after: int = 0) -> list[str]:
        """The kinds of the events behind one."""
        return [event.kind for event in self.call("events.list", after=after, limit=1000).items]

    def task(self, path: str = "/shop/tasks/cart") -> str:
        """A task in a project above it."""
        self.call("db.project.upsert", path="/" + path.split("/")[1])
        self.call("db.task.upsert", dir_path=path)
        return path

    def effort(self, skill: str = "implement", task: str = "/shop/tasks/cart") -> Any:
        """A new effort on a task."""
        return self.call("db.effort.start", task_id=self.task(task), skill=skill)

    def session(self, skill: str = "implement", task: str = "/shop/tasks/cart", **params: Any) -> Any:
        """A new session on a new effort."""
        effort = self.effort(skill, task)
        return self.call("db.session.start", task_id=task, effort_id=effort.id, **params)

    def skill(self, name: str, phases: Sequence[Any], task: str = "/shop/tasks/cart") -> int:
        """A skill of the task's project; the project's id."""
        self.task(task)
        project_id = int(self.call("db.task.find", query=task).items[0].project_id)
        self.call("db.skills.upsert", name=name, project_id=project_id, phases=list(phases))
        return project_id


class Counting(Connection):
    """A connection that counts the statements that go through it."""

    def __init__(self, inner: Connection) -> None:
        self.inner = inner
        self.names: list[str] = []

    def all(self, query: Query, **params: Any) -> list[Row]:
        self.names.append(query.name)
        return self.inner.all(query, **params)

    def one(self, query: Query, **params: Any) -> Row | None:
        self.names.append(query.name)
        return self.inner.one(query, **params)

    def columns(self, query: Query) -> tuple[str, ...]:
        return self.inner.columns(query)

    def begin(self, *, locks_rows: bool = False) -> None:
        self.inner.begin(locks_rows=locks_rows)

    def begin_reading(self) -> None:
        self.inner.begin_reading()

    def commit(self) -> None:
        self.inner.commit()

    def rollback(self) -> None:
        self.inner.rollback()

    def close(self) -> None:
        self.inner.close()


def places_in(folder: Path, database: Path | None) -> Places:
    """Where a database's things are when they are all in one folder."""
    return Places(
        home=folder,
        database=database,
        socket=folder / "ramet.sock",
        agents_socket=folder / "agents.sock",
        pid_file=folder / "ramet.pid",
        log_file=folder / "ramet.log",
        index=folder / "search.db",
        backups=folder / "backups",
        lock_file=folder / "ramet.lock",
        keepers=folder / "keepers",
        worktrees=folder / "worktrees",
    )


def database_settings(url: str | None) -> DatabaseSettings:
    """PostgreSQL at a url, or SQLite; tests of behaviour need not outlive a power cut."""
    if url is None:
        return DatabaseSettings(durability="process")
    return DatabaseSettings(type="postgres", url=url, durability="process")


def open_in(folder: Path, url: str | None, *, clock: Clock | None = None, faults: Faults | None = None) -> Store:
    """The store in a folder, or at a url."""
    database = folder / DATABASE_NAME if url is None else None
    return open_store(
        database_settings(url), places_in(folder, database), clock=clock or FakeClock(), faults=faults or Faults()
    )


@contextmanager
def open_world(folder: Path, url: str | None, limits: LimitSettings | None = None) -> Iterator[World]:
    """A world for the time of a test."""
    clock = FakeClock()
    store = open_in(folder, url, clock=clock)
    try:
        world = World(store, clock, limits)
        try:
            yield world
        finally:
            world.db.rollback()
            if not world.is_sqlite:
                world.db.close()
    finally:
        store.close()


def changes_of(operations: dict[str, Operation]) -> list[Operation]:
    """The operations that change something."""
    return [operation for operation in operations.values() if operation.changes]


def words(text: str) -> str:
    """A statement with its comments and spacing taken out."""
    without = re.sub(r"--[^\n]*", " ", text)
    return re.sub(r"\s*([(),])\s*", r"\1", re.sub(r"\s+", " ", without)).strip().rstrip(";")
