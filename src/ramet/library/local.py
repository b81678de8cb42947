"""Operations in this process, on a database file of our own: the engine without a daemon around it.

One lock lets one operation happen at a time, each in one transaction that is durable before the call returns. The
parameters go through the same decoder as the daemon's, so the two ways in accept and refuse the same.
"""

import os
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Any, Self

import msgspec
from msgspec import Raw

from ramet.ai import Models
from ramet.clock import Clock, SystemClock
from ramet.config.environment import Environment, read_environment
from ramet.config.layers import load
from ramet.config.places import find_places
from ramet.config.settings import Settings
from ramet.engine import Call, Engine
from ramet.engine.assisting import fill
from ramet.errors import DatabaseUnreachable, UnknownMethod
from ramet.faults import Faults
from ramet.library.transport import Subscription, encode_params
from ramet.protocol.ai import needs_model
from ramet.protocol.frames import decode_params
from ramet.protocol.operations import Operation
from ramet.protocol.requests import Request
from ramet.store import Store, open_store
from ramet.store.answer import answer

_PRINCIPAL = "user"
"""The same as the daemon's, so that a key used one way is known the other way too."""


class LocalTransport:
    """Performs operations here."""

    def __init__(self, store: Store, settings: Settings, environment: Environment, clock: Clock) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._engine = Engine.configured(settings, environment)
        self._models = Models(settings, environment)
        self._connection = store.connect()
        self._lock = Lock()
        self._is_closed = False
        self._forget_old_replies()

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Self:
        """On the file at `path`; durability and limits are those configured where the program runs."""
        flags = {"database.type": "sqlite", "database.path": os.fspath(path)}
        settings = load(os.environ, Path.cwd(), flags).settings
        clock = SystemClock()
        store = open_store(settings.database, find_places(os.environ, settings), clock=clock, faults=Faults())
        try:
            return cls(store, settings, read_environment(os.environ, settings), clock)
        except BaseException:
            store.close()
            raise

    def call(self, operation: Operation, params: Mapping[str, Any]) -> Any:
        request = decode_params(operation, encode_params(operation, params))
        if operation.host == "daemon":
            raise _only_a_daemon(operation)
        reply = self._assist(operation, request) if needs_model(request) else self._perform(operation, request)
        return msgspec.json.decode(reply, type=operation.reply) if isinstance(reply, Raw) else reply

    def subscribe(self, operation: Operation, params: Mapping[str, Any]) -> Subscription:  # noqa: ARG002
        raise _only_a_daemon(operation)

    def close(self) -> None:
        """Copy the WAL back and truncate it, close the file, and let go of its lock."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._store.close()

    def _perform(self, operation: Operation, request: Request) -> Any:
        with self._lock:
            self._require_open()
            if operation.host == "store":
                return answer(self._store, request, self._settings.query)
            call = self._engine.prepare(operation, request, _PRINCIPAL)
            return self._change(call) if operation.changes else self._read(call)

    def _assist(self, operation: Operation, request: Request) -> Any:
        """Ask a model first; other threads go on meanwhile."""
        call = self._engine.prepare(operation, request, _PRINCIPAL)
        with self._lock:
            self._require_open()
            question = self._engine.question(self._connection, call, self._clock.now_ms())
        if isinstance(question, Raw):
            return question
        return self._perform(operation, fill(request, self._models.answer(question)))

    def _read(self, call: Call) -> Any:
        return self._engine.perform(self._connection, call, self._clock.now_ms())

    def _change(self, call: Call) -> Any:
        self._connection.begin()
        try:
            reply = self._engine.perform(self._connection, call, self._clock.now_ms())
            self._connection.commit()
        except BaseException:
            self._connection.rollback()
            raise
        return reply

    def _forget_old_replies(self) -> None:
        self._connection.begin()
        self._engine.forget_old_replies(self._connection, self._clock.now_ms())
        self._connection.commit()

    def _require_open(self) -> None:
        if self._is_closed:
            raise DatabaseUnreachable(
                "this database has been closed", fix="use the object inside its `with` block, or open it again"
            )


def _only_a_daemon(operation: Operation) -> UnknownMethod:
    return UnknownMethod(
        f"{operation.name} is answered by a daemon, and this database is open in this process",
        field="method",
        value=operation.name,
        fix="use ramet.connect() to go through the daemon",
    )
