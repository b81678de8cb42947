"""Reading beside the writer: short reads on the event loop, long ones on threads, each on a connection of its own.

A point read costs a few microseconds, a hop to a thread a hundred; so what is short is done in place. What could hold
the loop up (long pages, checks, backups, people's own queries) goes to a thread. No snapshot outlives its request,
because an open one keeps the WAL from being copied back.
"""

import asyncio
import logging
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ramet.clock import Clock
from ramet.config.settings import QuerySettings
from ramet.daemon.executors.executor import Done
from ramet.daemon.stalls import Stopwatch
from ramet.engine import Engine
from ramet.errors import DatabaseUnreachable, RametError
from ramet.protocol.operation import Request
from ramet.protocol.operations import Operation
from ramet.protocol.record.messages import ListMessages
from ramet.protocol.system.events import ListEvents
from ramet.store import Store
from ramet.store.database.connection import Connection
from ramet.store.database.operations import answer
from ramet.store.events import find_last

log = logging.getLogger(__name__)

_THREADS = 2
_SHORT_PAGE = 200


class Readers:
    """Runs what only reads."""

    def __init__(
        self,
        store: Store,
        engine: Engine,
        settings: QuerySettings,
        clock: Clock,
        loop: asyncio.AbstractEventLoop,
        meter: Stopwatch,
        *,
        in_place: bool,
    ) -> None:
        self._store = store
        self._engine = engine
        self._settings = settings
        self._clock = clock
        self._loop = loop
        self._meter = meter
        self._in_place = in_place
        """Whether a read is cheap enough for the loop: a file is, a server is not."""
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="reader")
        self._local = threading.local()
        self._connections: list[Connection] = []
        self.pending = 0

    def read(self, operation: Operation, request: Request[Any], principal: str, done: Done) -> None:
        """Answer an operation that only reads."""
        if self._in_place and operation.host == "engine" and not _is_long(request):
            done(self._answer(operation, request, principal))
        else:
            self._on_thread(done, self._answer, operation, request, principal)

    def last_event(self, done: Done) -> None:
        """The id of the newest event."""
        if self._in_place:
            done(self._last_event())
        else:
            self._on_thread(done, self._last_event)

    def close(self) -> None:
        """Wait for the reads under way and close their connections."""
        self._threads.shutdown(wait=True)
        for connection in self._connections:
            connection.close()

    def _on_thread(self, done: Done, work: Any, *arguments: Any) -> None:
        self.pending += 1
        future: Future[Any] = self._threads.submit(work, *arguments)
        future.add_done_callback(lambda _: self._loop.call_soon_threadsafe(self._deliver, future, done))

    def _deliver(self, future: "Future[Any]", done: Done) -> None:
        self._meter.begin()
        self.pending -= 1
        done(future.result())
        self._meter.end("deliver")

    def _answer(self, operation: Operation, request: Request[Any], principal: str) -> Any:
        try:
            if operation.host == "store":
                return answer(self._store, request, self._settings)
            return self._perform(operation, request, principal)
        except RametError as error:
            return error
        except Exception:
            log.exception("a read failed method=%s", operation.name)
            return RametError()

    def _perform(self, operation: Operation, request: Request[Any], principal: str) -> Any:
        db = self._begin()
        try:
            return self._engine.perform(db, self._engine.prepare(operation, request, principal), self._clock.now_ms())
        finally:
            db.rollback()

    def _begin(self) -> Connection:
        """A connection with an open transaction; one that the server has closed since its last use is replaced."""
        db = self._connection()
        try:
            db.begin_reading()
        except DatabaseUnreachable:
            db = self._connection()
            db.begin_reading()
        return db

    def _last_event(self) -> Any:
        try:
            db = self._begin()
            try:
                return find_last(db)
            finally:
                db.rollback()
        except RametError as error:
            return error

    def _connection(self) -> Connection:
        """This thread's own connection; one whose server has gone away is replaced."""
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is None or connection.is_broken:
            connection = self._local.connection = self._store.connect_reader()
            self._connections.append(connection)
        return connection


def _is_long(request: Request[Any]) -> bool:
    return request.op.is_long or (isinstance(request, ListMessages | ListEvents) and request.limit > _SHORT_PAGE)
