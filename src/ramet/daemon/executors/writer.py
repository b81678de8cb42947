"""The writer: the one thread that changes a SQLite database. It is the lock.

It takes all waiting operations, runs each in a savepoint inside one transaction, commits once, and then answers all of
them: group commit. So fifty clients share the cost of one flush, a failed operation affects no other, and nothing is
answered before it is durable.

Long operations (imports) have transactions of their own, one at a time, and between two of them everything else that
waits is written. So a hook waits for one of them at most.
"""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

from ramet.clock import Clock
from ramet.config.settings import QuerySettings
from ramet.daemon.executors.executor import Done
from ramet.daemon.executors.preparation import Preparation
from ramet.daemon.executors.readers import Readers
from ramet.daemon.stalls import Pauses, Stopwatch
from ramet.engine import Call, Engine
from ramet.errors import BatchRolledBack, RametError
from ramet.faults import Faults
from ramet.protocol.operation import Request
from ramet.protocol.operations import Operation
from ramet.store.database.sqlite.store import SqliteStore
from ramet.store.database.store import Topic

log = logging.getLogger(__name__)

_LARGEST_BATCH = 256
_UPKEEP_SECONDS = 3600.0

_Item = tuple[Call, Done]


class Writer:
    """An executor on SQLite."""

    keeps_order = True

    def __init__(
        self,
        store: SqliteStore,
        engine: Engine,
        settings: QuerySettings,
        *,
        clock: Clock,
        faults: Faults,
        on_commit: Callable[[Topic], None],
        loop: asyncio.AbstractEventLoop,
        meter: Stopwatch,
    ) -> None:
        self._store = store
        self._db = store.connect()
        self._engine = engine
        self._clock = clock
        self._faults = faults
        self._on_commit = on_commit
        self._loop = loop
        self._meter = meter
        self.pauses = Pauses("writer")
        self._watch = Stopwatch(self.pauses)
        self._readers = Readers(store, engine, settings, clock, loop, meter, in_place=True)
        self._queue: SimpleQueue[_Item | None] = SimpleQueue()
        self._long: deque[_Item] = deque()
        """Long operations that have been taken from the queue, in their order. Only the writer's thread has it."""
        self._preparation = Preparation(engine, lambda call, done: self._queue.put((call, done)), loop)
        self.transactions = 0
        self._thread = threading.Thread(target=self._run, name="writer")
        self._thread.start()

    def submit(self, operation: Operation, request: Request[Any], principal: str, done: Done) -> None:
        """Queue a change; what can be prepared outside the writer's thread is prepared before."""
        self._preparation.submit(operation, request, principal, done)

    def read(self, operation: Operation, request: Request[Any], principal: str, done: Done) -> None:
        """Answer beside the writer."""
        self._readers.read(operation, request, principal, done)

    def last_event(self, done: Done) -> None:
        """The id of the newest event."""
        self._readers.last_event(done)

    def pending(self) -> int:
        """How many requests have not been answered."""
        return self._preparation.pending + self._readers.pending

    def close(self) -> None:
        """Finish queued operations, copy the WAL back and close."""
        self._preparation.close()
        self._queue.put(None)
        self._thread.join()
        self._readers.close()
        self._store.close()

    def _run(self) -> None:
        self._keep_up()
        is_over = False
        while not is_over or self._long:
            batch: list[_Item] = []
            is_over = self._gather(batch) or is_over
            if batch:
                self._answer(batch, self._write(batch))
            if self._long:
                alone = [self._long.popleft()]
                self._answer(alone, self._write(alone))
            elif not batch:
                self._keep_up()

    def _gather(self, batch: list[_Item]) -> bool:
        """Wait for an operation unless one is there, and take all that wait; True if the end was among them."""
        while len(batch) < _LARGEST_BATCH:
            is_idle = not batch and not self._long
            try:
                item = self._queue.get(timeout=_UPKEEP_SECONDS if is_idle else 0)
            except Empty:
                return False
            if item is None:
                return True
            (self._long if item[0].operation.is_long else batch).append(item)
        return False

    def _write(self, batch: list[_Item]) -> list[Any]:
        """One transaction; a reply or an error for each of the batch."""
        self._watch.begin()
        try:
            self._db.rollback()
            self._db.begin()
            now_ms = self._clock.now_ms()
            replies = [self._perform(call, now_ms) for call, _ in batch]
            self._faults.reach("before_commit")
            self._db.commit()
            self.transactions += 1
        except RametError as error:
            self._abandon()
            return [error] * len(batch)
        except Exception:
            log.exception("a transaction of %d operations failed", len(batch))
            self._abandon()
            return [BatchRolledBack()] * len(batch)
        finally:
            self._watch.end("commit")
        self._faults.reach("after_commit_before_reply")
        return replies

    def _abandon(self) -> None:
        """Undo the transaction; if even that fails, the next one starts with it."""
        try:
            self._db.rollback()
        except Exception:
            log.exception("a rollback failed")

    def _perform(self, call: Call, now_ms: int) -> Any:
        """One operation in its savepoint. Raises only if SQLite has given up the whole transaction."""
        self._db.begin_operation()
        try:
            reply = self._engine.perform(self._db, call, now_ms)
        except Exception as error:
            if not self._db.undo_operation():
                raise BatchRolledBack(f"the database rolled back the transaction: {error}") from error
            return self._explain(call, error)
        else:
            self._db.keep_operation()
            return reply
        finally:
            self._watch.lap(call.operation.name)

    def _explain(self, call: Call, error: Exception) -> RametError:
        if isinstance(error, RametError):
            return error
        log.error("an operation failed method=%s", call.operation.name, exc_info=error)
        return RametError()

    def _answer(self, batch: list[_Item], replies: list[Any]) -> None:
        self._loop.call_soon_threadsafe(self._deliver, batch, replies)

    def _deliver(self, batch: list[_Item], replies: list[Any]) -> None:
        self._meter.begin()
        for (_, done), reply in zip(batch, replies, strict=True):
            done(reply)
        self._on_commit("work")
        self._meter.end("deliver")

    def _keep_up(self) -> None:
        """Forget the replies whose keys are too old to come again."""
        self._watch.begin()
        try:
            self._db.begin()
            self._engine.forget_old_replies(self._db, self._clock.now_ms())
            self._db.commit()
        except Exception as error:  # noqa: BLE001 - it is tried again; the writer must go on
            self._abandon()
            log.warning("upkeep failed error=%s", type(error).__name__)
        self._watch.end("upkeep")
