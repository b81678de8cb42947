"""Reading beside the writer: short reads on the event loop, long ones in processes of their own.

A point read costs a few microseconds, a hop to a thread a hundred; so what is short is done in place. Long reads
(`Operation.is_long`) go to reader processes: a thread that computes would hold the interpreter's lock, for which every
statement of a hook would wait. On a server, where a short read waits for the network, it runs on a thread.
"""

import asyncio
import time
from collections.abc import Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ramet.clock import Clock
from ramet.config.settings import QuerySettings
from ramet.daemon.executors.executor import OWN, Asker, Done
from ramet.daemon.readers.failures import explain, refuse_late
from ramet.daemon.readers.reader_pool import ReaderPool
from ramet.daemon.readers.snapshots import Snapshots
from ramet.daemon.stalls import Stopwatch
from ramet.engine import Engine
from ramet.protocol.memory.chunks import QueryChunks, SearchDirectives, SearchDocs, SearchSessions
from ramet.protocol.memory.recall import Recall
from ramet.protocol.memory.search import SearchMemory
from ramet.protocol.operation import Request
from ramet.protocol.operations import Operation
from ramet.protocol.system.events import ListEvents, SubscribeEvents
from ramet.store import Store

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
        processes: ReaderPool | None,
        in_place: bool,
    ) -> None:
        """Without `processes`, long reads run on threads."""
        self._timeout_seconds = store.timeout_seconds
        self._loop = loop
        self._processes = processes
        self._meter = meter
        self._in_place = in_place
        """Whether a read is cheap enough for the loop: a file is, a server is not."""
        self._snapshots = Snapshots(store, engine, settings, clock)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="reader")
        self._on_threads = 0

    @property
    def pending(self) -> int:
        """How many reads have not been answered."""
        return self._on_threads + (0 if self._processes is None else self._processes.pending)

    def read(self, operation: Operation, request: Request[Any], principal: str, done: Done, asker: Asker = OWN) -> None:
        """Answer an operation that only reads."""
        is_long = _is_long(request)
        if is_long and self._processes is not None:
            self._processes.read(request, principal, done, asker, freshens=_reads_index(request))
        elif self._in_place and operation.host == "engine" and not is_long:
            done(self._answer(request, principal))
        else:
            self._on_thread(done, self._answer, request, principal, time.monotonic())

    def last_event(self, done: Done) -> None:
        """The id of the newest event."""
        if self._in_place:
            done(self._last_event())
        else:
            self._on_thread(done, self._last_event)

    def stop_reads(self, client: Hashable) -> None:
        """Stop the long reads of a client that is gone."""
        if self._processes is not None:
            self._processes.stop_reads(client)

    def interrupt_reads(self) -> None:
        """Stop the long reads of all clients."""
        if self._processes is not None:
            self._processes.interrupt()

    def close(self) -> None:
        """End the reads under way and close their connections."""
        if self._processes is not None:
            self._processes.close()
        self._threads.shutdown(wait=True)
        self._snapshots.close()

    def _on_thread(self, done: Done, work: Any, *arguments: Any) -> None:
        self._on_threads += 1
        future: Future[Any] = self._threads.submit(work, *arguments)
        future.add_done_callback(lambda _: self._loop.call_soon_threadsafe(self._deliver, future, done))

    def _deliver(self, future: "Future[Any]", done: Done) -> None:
        self._meter.begin()
        self._on_threads -= 1
        done(future.result())
        self._meter.end("deliver")

    def _answer(self, request: Request[Any], principal: str, since: float | None = None) -> Any:
        try:
            if since is not None:
                refuse_late(since, self._timeout_seconds)
            return self._snapshots.perform(request, principal)
        except Exception as error:  # noqa: BLE001 - whatever fails, the thread lives on
            return explain(error, request.op.name)

    def _last_event(self) -> Any:
        try:
            return self._snapshots.last_event()
        except Exception as error:  # noqa: BLE001 - as above
            return explain(error, SubscribeEvents.op.name)


def _is_long(request: Request[Any]) -> bool:
    if isinstance(request, ListEvents):
        return request.limit > _SHORT_PAGE or request.kind is not None  # a rare kind is searched in the whole log
    return request.op.is_long


def _reads_index(request: Request[Any]) -> bool:
    """Whether it finds what was written just before in the search index. A hook's recall does not wait for that."""
    if isinstance(request, Recall):
        return not request.is_hint
    return isinstance(request, SearchMemory | QueryChunks | SearchSessions | SearchDocs | SearchDirectives)
