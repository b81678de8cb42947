"""The writer: the one thread that changes a SQLite database. It is the lock.

It takes all waiting operations, runs each in a savepoint inside one transaction, commits once, and then answers all of
them: group commit. So fifty clients share the cost of one flush, a failed operation affects no other, and nothing is
answered before it is durable.

Hooks are written first, and a batch is short. Long operations (imports) have transactions of their own, one at a time,
and between two of them everything else that waits is written. So a hook waits for one batch or one of them at most.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Hashable
from queue import Empty, SimpleQueue
from typing import Any

from ramet.clock import Clock
from ramet.config.settings import QuerySettings
from ramet.daemon.damage.database_files import FileWatch
from ramet.daemon.damage.database_guard import DatabaseGuard
from ramet.daemon.damage.database_rescue import Rescuer
from ramet.daemon.executors.executor import OWN, Asker, Done
from ramet.daemon.executors.preparation import Preparation
from ramet.daemon.executors.preparation_process import PreparationProcess
from ramet.daemon.executors.readers import Readers
from ramet.daemon.executors.upkeep import Upkeep
from ramet.daemon.readers.failures import explain
from ramet.daemon.readers.reader_pool import ReaderPool
from ramet.daemon.stalls import LoopMeter, Pauses, Stopwatch
from ramet.engine import Call
from ramet.errors import BatchRolledBack, DatabaseDamaged, RametError
from ramet.faults import Faults
from ramet.protocol.hooks.hooks import RecordHook
from ramet.protocol.operation import Request
from ramet.protocol.operations import Operation
from ramet.store.database.sqlite.store import SqliteStore
from ramet.store.database.store import Topic

log = logging.getLogger(__name__)

_LARGEST_BATCH = 64
"""A hook that arrives now waits for this many at most. Larger batches save next to nothing of the flushes."""

_Item = tuple[Call, Done]


class Writer:
    """An executor on SQLite."""

    keeps_order = True

    def __init__(  # noqa: PLR0913 - what a transaction needs, and who may forbid it
        self,
        store: SqliteStore,
        preparation: PreparationProcess,
        settings: QuerySettings,
        *,
        clock: Clock,
        faults: Faults,
        on_commit: Callable[[Topic], None],
        meter: LoopMeter,
        guard: DatabaseGuard | None = None,
        processes: ReaderPool | None = None,
    ) -> None:
        self._store = store
        self._guard = guard or DatabaseGuard()
        self._files = FileWatch(store.files)
        self._rescuer = Rescuer(store, self._guard)
        self._db = store.connect()
        self._engine = engine = preparation.engine
        self._clock = clock
        self._faults = faults
        self._on_commit = on_commit
        self._loop = loop = meter.loop
        self._meter = meter
        self.pauses = Pauses("writer")
        self._watch = Stopwatch(self.pauses)
        self._readers = Readers(store, engine, settings, clock, loop, meter, processes=processes, in_place=True)
        self._queue: SimpleQueue[_Item | None] = SimpleQueue()
        self._hooks: deque[_Item] = deque()
        self._short: deque[_Item] = deque()
        self._long: deque[_Item] = deque()
        """What has been taken from the queue, each kind in its order. Only the writer's thread has these."""
        self._upkeep = Upkeep(engine, clock, store.limit_log)
        self._preparation = Preparation(preparation, lambda call, done: self._queue.put((call, done)), loop)
        self.transactions = 0
        self._thread = threading.Thread(target=self._run, name="writer")
        self._thread.start()

    def submit(self, operation: Operation, request: Request[Any], principal: str, done: Done) -> None:
        """Queue a change; what can be prepared outside the writer's thread is prepared before."""
        if (refusal := self._guard.refusal(operation)) is not None:
            done(refusal)
        else:
            self._preparation.submit(operation, request, principal, done)

    def read(self, operation: Operation, request: Request[Any], principal: str, done: Done, asker: Asker = OWN) -> None:
        """Answer beside the writer."""
        self._readers.read(operation, request, principal, done, asker)

    def stop_reads(self, client: Hashable) -> None:
        """Stop the long reads of a client that is gone."""
        self._readers.stop_reads(client)

    def interrupt_reads(self) -> None:
        """Stop the long reads of all clients."""
        self._readers.interrupt_reads()

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
        self._files.close()
        self._rescuer.close()
        if self._guard.ban is not None:
            self._store.leave_files()
        self._store.close()

    def _run(self) -> None:
        is_over = False
        while not is_over or self._short or self._long:
            is_over = self._gather() or is_over
            batch = self._next_batch()
            if batch:
                self._answer(batch, self._write(batch))
            if self._long:
                alone = [self._long.popleft()]
                self._answer(alone, self._write(alone))
            if self._upkeep.is_due() and self._guard.ban is None:
                self._watch.begin()
                self._upkeep.step(self._db)
                self._watch.end("upkeep")
            self._look_at_files()

    def _gather(self) -> bool:
        """Wait for an operation unless one is there, and take all that wait; True if the end was among them."""
        timeout = 0.0 if self._short or self._long else self._seconds_left()
        try:
            while (item := self._queue.get(timeout=timeout)) is not None:
                self._lane_of(item[0].operation).append(item)
                timeout = 0.0
        except Empty:
            return False
        return True

    def _seconds_left(self) -> float | None:
        """The time until upkeep is due; None if there is none any more."""
        if self._guard.ban is not None:
            return None
        return min(self._upkeep.seconds_left(), self._files.seconds_left())

    def _lane_of(self, operation: Operation) -> "deque[_Item]":
        if operation is RecordHook.op:
            return self._hooks
        return self._long if operation.is_long else self._short

    def _next_batch(self) -> list[_Item]:
        """The hooks that wait, and as many others as fit."""
        batch = list(self._hooks)
        self._hooks.clear()
        while self._short and len(batch) < _LARGEST_BATCH:
            batch.append(self._short.popleft())
        return batch

    def _write(self, batch: list[_Item]) -> list[Any]:
        """One transaction; a reply or an error for each of the batch."""
        self._watch.begin()
        try:
            self._db.rollback()
            self._db.begin()
            now_ms = self._clock.now_ms()
            replies = [self._perform(call, now_ms) for call, _ in batch]
            if self._guard.ban is not None:
                self._refuse_changes(batch)
            self._faults.reach("before_commit")
            self._db.commit()
            self.transactions += 1
            if (loss := self._files.find_loss()) is not None:
                self._guard.impose("replaced", loss)
                return [self._guard.loss()] * len(batch)
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

    def _look_at_files(self) -> None:
        """Compare the files from time to time, and rescue what there is once they are lost."""
        if self._guard.ban is None and self._files.is_due() and (loss := self._files.compare()) is not None:
            self._guard.impose("replaced", loss)
        if self._rescuer.is_due():
            self._rescuer.rescue()

    def _refuse_changes(self, batch: list[_Item]) -> None:
        """Raise if one of these must not be written, because damage was found while they waited or were performed."""
        for call, _ in batch:
            if (refusal := self._guard.refusal(call.operation)) is not None:
                raise refusal

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
            if isinstance(error, DatabaseDamaged):
                self._guard.note(error)
            return explain(error, call.operation.name)
        else:
            self._db.keep_operation()
            return reply
        finally:
            self._watch.lap(call.operation.name)

    def _answer(self, batch: list[_Item], replies: list[Any]) -> None:
        self._loop.call_soon_threadsafe(self._deliver, batch, replies)

    def _deliver(self, batch: list[_Item], replies: list[Any]) -> None:
        self._meter.begin()
        for (_, done), reply in zip(batch, replies, strict=True):
            done(reply)
        self._on_commit("work")
        self._meter.end("deliver")
