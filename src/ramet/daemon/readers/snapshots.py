"""Answering reads: each in a snapshot of its own, on the connection of its thread.

No snapshot outlives its request, because an open one keeps the WAL from being copied back.
"""

import threading
from typing import Any

from ramet.clock import Clock
from ramet.config.settings import QuerySettings
from ramet.engine import Engine
from ramet.errors import DatabaseDamaged, DatabaseUnreachable
from ramet.protocol.operation import Request
from ramet.store import ReadableStore, answer
from ramet.store.database.connection import Connection
from ramet.store.events import find_last


class Snapshots:
    """Performs operations that only read. May be used by any thread, and by a process of its own."""

    def __init__(self, store: ReadableStore, engine: Engine, settings: QuerySettings, clock: Clock) -> None:
        self._store = store
        self.signs = store.signs
        self._engine = engine
        self._settings = settings
        self._clock = clock
        self._local = threading.local()
        self._connections: list[Connection] = []

    def perform(self, request: Request[Any], principal: str) -> Any:
        """The reply; a refusal is raised."""
        try:
            return self._perform(request, principal)
        except DatabaseDamaged as error:  # what no statement finds: a text that is no text any more
            self.signs.note(error)
            raise

    def _perform(self, request: Request[Any], principal: str) -> Any:
        if request.op.host == "store":
            return answer(self._store, request, self._settings)
        call = self._engine.prepare(request.op, request, principal)
        db = self._begin()
        try:
            return self._engine.perform(db, call, self._clock.now_ms())
        finally:
            self._end(db)

    def last_event(self) -> int:
        """The id of the newest event."""
        db = self._begin()
        try:
            return find_last(db)
        finally:
            self._end(db)

    @property
    def keeps_places(self) -> bool:
        """Whether a connection that is not used takes another one's place at the server."""
        return self._store.has_few_connections

    def release(self) -> None:
        """Close this thread's connection. The next read opens another one."""
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is not None:
            self._local.connection = None
            self._connections.remove(connection)
            connection.close()

    def close(self) -> None:
        """Close every connection, once no thread reads any more."""
        for connection in self._connections:
            connection.close()

    def _end(self, db: Connection) -> None:
        db.rollback()
        if self._store.is_scarce:
            self.release()

    def _begin(self) -> Connection:
        """A connection with an open transaction; one that the server has closed since its last use is replaced."""
        db = self._connection()
        try:
            db.begin_reading()
        except DatabaseUnreachable:
            db = self._connection()
            db.begin_reading()
        return db

    def _connection(self) -> Connection:
        """This thread's own connection; one whose server has gone away is replaced."""
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is not None and connection.is_broken:
            self.release()
            connection = None
        if connection is None:
            connection = self._local.connection = self._store.connect_reader()
            self._connections.append(connection)
        return connection
