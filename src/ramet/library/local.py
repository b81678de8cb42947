"""Operations in this process, on a database file of our own or a shared server: the engine without a daemon around it.

One lock lets one operation happen at a time, each in one transaction that is durable before the call returns. The
parameters go through the same decoder as the daemon's, so the two ways in accept and refuse the same.
"""

import os
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Any, Self

from msgspec import Raw

from ramet.ai import Models
from ramet.clock import Clock, SystemClock
from ramet.config.environment import Environment, read_environment
from ramet.config.layers import load
from ramet.config.places import find_places
from ramet.config.settings import Places, Settings
from ramet.engine import Call, Engine
from ramet.engine.history.model_answers import fill
from ramet.engine.record.skills import Discovered
from ramet.errors import DatabaseDamaged, DatabaseUnreachable, TooContended, UnknownMethod
from ramet.faults import Faults
from ramet.library.transport import Subscription, encode_params
from ramet.model.principal import USER
from ramet.protocol.operation import Change, Request, decode_reply
from ramet.protocol.operations import Operation
from ramet.protocol.wire.frames import decode_params
from ramet.runner.machine import Machine
from ramet.runner.operations import answer as answer_here
from ramet.runner.project_files.new_work import examine
from ramet.store import Store, open_store
from ramet.store.database.connection import Retry
from ramet.store.database.operations import answer
from ramet.store.memory.index.search_index import SearchIndex
from ramet.vendors import registry, selection

_DAMAGED_FIX = "list the damage with `ramet db check`; then restore a backup, or write all the same: `ramet db accept`"
_OLD_REPLIES = 1000


class LocalTransport:
    """Performs operations here."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        environment: Environment,
        clock: Clock,
        places: Places,
        environ: Mapping[str, str],
    ) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock = store.clock(clock)
        self._engine = Engine.configured(
            settings,
            environment,
            selection.confinements(settings.drivers),
            resume_commands=registry.resume_commands(),
            index=SearchIndex(places.index if places.home.is_dir() else None),
        )
        self._engine.feed_on_demand()
        self._models = Models(settings, environment)
        self._machine = Machine(self._ask, settings, places, environ, clock=clock)
        self._connection = store.connect()
        self._lock = Lock()
        self._is_closed = False
        self._forget_old_replies()

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Self:
        """On the file at `path`; durability and limits come from the program's configuration."""
        return cls._open({"database.type": "sqlite", "database.path": os.fspath(path)})

    @classmethod
    def share(cls, url: str) -> Self:
        """On a PostgreSQL server, which daemons and other programs may have open at the same time."""
        return cls._open({"database.type": "postgres", "database.url": url}, is_shared=True)

    @classmethod
    def _open(cls, flags: Mapping[str, str], *, is_shared: bool = False) -> Self:
        settings = load(os.environ, Path.cwd(), flags).settings
        clock = SystemClock()
        places = find_places(os.environ, settings)
        if not is_shared and places.damage_mark.exists():
            raise DatabaseDamaged(f"a daemon has found the database damaged: {places.damage_mark}", fix=_DAMAGED_FIX)
        store = open_store(
            settings.database, places, clock=clock, faults=Faults(), is_shared=is_shared, is_named_in_code=True
        )
        try:
            return cls(store, settings, read_environment(os.environ, settings), clock, places, os.environ)
        except BaseException:
            store.close()
            raise

    def call(self, operation: Operation, params: Mapping[str, Any]) -> Any:
        request = decode_params(operation, encode_params(operation, params))
        if operation.host == "daemon":
            raise _only_a_daemon(operation)
        if operation.host == "machine":
            return answer_here(self._machine, request)
        if isinstance(request, Change) and request.reads_first():
            found, start = examine(self._machine, request, None)
            request = Discovered(asked=request, found=found, start=start)
        reply = self._assist(operation, request) if request.needs_model() else self._perform(operation, request)
        return decode_reply(operation.request, reply) if isinstance(reply, Raw) else reply

    def subscribe(self, operation: Operation, params: Mapping[str, Any]) -> Subscription:  # noqa: ARG002
        raise _only_a_daemon(operation)

    def close(self) -> None:
        """Copy the WAL back and truncate it, close the file, and release its lock."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._engine.index.close()
                self._store.close()
                self._connection.close()

    def _perform(self, operation: Operation, request: Request[Any]) -> Any:
        with self._lock:
            self._require_open()
            if operation.host == "store":
                return answer(self._store, request, self._settings.query)
            call = self._engine.prepare(operation, request, USER)
            return self._change(call) if operation.changes else self._read(call)

    def _ask(self, request: Request[Any]) -> Any:
        """What the machine asks of the engine."""
        operation = request.op
        reply = self._perform(operation, request)
        return decode_reply(operation.request, reply) if isinstance(reply, Raw) else reply

    def _assist(self, operation: Operation, request: Request[Any]) -> Any:
        """Ask a model first; other threads continue meanwhile."""
        call = self._engine.prepare(operation, request, USER)
        with self._lock:
            self._require_open()
            question = self._engine.question(self._connection, call, self._clock.now_ms())
        if isinstance(question, Raw):
            return question
        return self._perform(operation, fill(request, self._models.answer(question)))

    def _read(self, call: Call) -> Any:
        self._connection.begin_reading()
        try:
            return self._engine.perform(self._connection, call, self._clock.now_ms())
        finally:
            self._connection.rollback()

    def _change(self, call: Call) -> Any:
        return self._in_transaction(
            lambda: self._engine.perform(self._connection, call, self._clock.now_ms()),
            locks_rows=call.operation.locks_rows,
        )

    def _forget_old_replies(self) -> None:
        """Some of them: a program that opens a database waits for it."""
        now_ms = self._clock.now_ms()
        self._in_transaction(lambda: self._engine.forget_old_replies(self._connection, now_ms, _OLD_REPLIES))

    def _in_transaction(self, work: Callable[[], Any], *, locks_rows: bool = False) -> Any:
        """Do it and make it durable; again from its start if it conflicts with another program."""
        for _ in range(self._settings.database.retries):
            self._connection.begin(locks_rows=locks_rows)
            try:
                reply = work()
                self._connection.commit()
            except Retry:
                self._connection.rollback()
            except BaseException:
                self._connection.rollback()
                raise
            else:
                return reply
        raise TooContended

    def _require_open(self) -> None:
        if self._is_closed:
            raise DatabaseUnreachable(
                "this database has been closed", fix="use the object inside its `with` block, or open it again"
            )


def _only_a_daemon(operation: Operation) -> UnknownMethod:
    return UnknownMethod(
        f"{operation.name} needs a daemon, and this database is open in this process",
        field="method",
        value=operation.name,
        fix="use ramet.connect() to go through the daemon",
    )
