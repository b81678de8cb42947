"""The pool: the executor on PostgreSQL, which uses the server as the lock.

Each change runs SERIALIZABLE in a transaction of its own, and again from its start when it conflicts with another
transaction, a bounded number of times. Changes to the same thing go to the same thread, so that this daemon's own
clients do not conflict with each other. Long changes have a thread of their own, so that no hook waits for one.
"""

import logging
import random
import threading
import time
from collections.abc import Callable, Hashable
from queue import Empty, SimpleQueue
from typing import Any

from ramet.clock import Clock
from ramet.config.settings import Settings
from ramet.daemon.damage.database_guard import DatabaseGuard
from ramet.daemon.executors.commit_listener import CommitListener
from ramet.daemon.executors.executor import OWN, Asker, Done
from ramet.daemon.executors.preparation import Preparation
from ramet.daemon.executors.preparation_process import PreparationProcess
from ramet.daemon.executors.readers import Readers
from ramet.daemon.executors.upkeep import Upkeep
from ramet.daemon.readers.failures import explain, refuse_late
from ramet.daemon.readers.reader_pool import ReaderPool
from ramet.daemon.stalls import LoopMeter, Pauses, Stopwatch
from ramet.engine import Call
from ramet.errors import (
    DatabaseDamaged,
    DatabaseUnreachable,
    DeadlineExceeded,
    RametError,
    StoreError,
    TooContended,
)
from ramet.faults import Faults
from ramet.protocol.hooks.hooks import RecordHook
from ramet.protocol.hooks.transcripts import AddEntries
from ramet.protocol.operation import Request
from ramet.protocol.operations import Operation
from ramet.store.database.connection import Connection
from ramet.store.database.postgres.connection import Retry
from ramet.store.database.postgres.store import PostgresStore
from ramet.store.database.store import Topic

log = logging.getLogger(__name__)

_LONGEST_PAUSE_SECONDS = 0.05
_SUBJECTS = (
    "worker",
    "task_id",
    "dir_path",
    "session_id",
    "parent_session_id",
    "effort_id",
    "project_id",
    "id",
    "path",
    "native_id",
)

_Item = tuple[Call, Done, float]
"""A change, its answer, and since when it waits."""


class Pool:
    """An executor on PostgreSQL."""

    keeps_order = False

    def __init__(  # noqa: PLR0913 - what a transaction needs, and who may forbid it
        self,
        store: PostgresStore,
        preparation: PreparationProcess,
        settings: Settings,
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
        self._engine = engine = preparation.engine
        self._retries = settings.database.retries
        self._clock = clock
        self._faults = faults
        self._on_commit = on_commit
        self._loop = loop = meter.loop
        self._meter = meter
        self.pauses = Pauses("writer")
        self._readers = Readers(store, engine, settings.query, clock, loop, meter, processes=processes, in_place=False)
        self._preparation = Preparation(preparation, self._put, loop)
        self.transactions = 0
        self._lanes: list[SimpleQueue[_Item | None]] = [SimpleQueue() for _ in range(settings.database.pool_size)]
        self._long_lane: SimpleQueue[_Item | None] = SimpleQueue()
        self._threads = [
            threading.Thread(target=self._run, args=(lane,), name="writer") for lane in (*self._lanes, self._long_lane)
        ]
        self._upkeep = Upkeep(engine, clock)
        for thread in self._threads:
            thread.start()
        self._listening = CommitListener(store.listen, on_commit, loop)

    def submit(self, operation: Operation, request: Request[Any], principal: str, done: Done) -> None:
        """Queue a change in the lane of what it changes."""
        if (refusal := self._guard.refusal(operation)) is not None:
            done(refusal)
        else:
            self._preparation.submit(operation, request, principal, done)

    def read(self, operation: Operation, request: Request[Any], principal: str, done: Done, asker: Asker = OWN) -> None:
        """Answer on a reader's connection."""
        self._readers.read(operation, request, principal, done, asker)

    def stop_reads(self, client: Hashable) -> None:
        """Stop the long reads of a client that is gone."""
        self._readers.stop_reads(client)

    def interrupt_reads(self) -> None:
        """Stop the long reads of all clients."""
        self._readers.interrupt_reads()

    def last_event(self, done: Done) -> None:
        """The id of the newest event that every reader may see."""
        self._readers.last_event(done)

    def pending(self) -> int:
        """How many requests have not been answered."""
        return self._preparation.pending + self._readers.pending

    def close(self) -> None:
        """Finish queued operations and close."""
        self._store.hurry()
        self._listening.close()
        self._preparation.close()
        for lane in (*self._lanes, self._long_lane):
            lane.put(None)
        for thread in self._threads:
            thread.join()
        self._readers.close()
        self._store.close()

    def _put(self, call: Call, done: Done) -> None:
        if call.operation.is_long:
            self._long_lane.put((call, done, time.monotonic()))
        else:
            lane = self._lanes[hash(_subject(call.request)) % len(self._lanes)]
            lane.put((call, done, time.monotonic()))

    def _run(self, lane: "SimpleQueue[_Item | None]") -> None:
        db: Connection | None = None
        watch = Stopwatch(self.pauses)
        while True:
            try:
                item = lane.get(timeout=self._seconds_left(lane))
            except Empty:
                db = self._keep_up(db)
                continue
            if item is None:
                break
            call, done, since = item
            watch.begin()
            try:
                if lane is not self._long_lane:
                    refuse_late(since, self._store.timeout_seconds)
                db = self._begin(db, call)
                reply = self._persist(db, call)
                self._faults.reach("after_commit_before_reply")
            except Exception as error:  # noqa: BLE001 - whatever fails, the lane lives on
                if isinstance(error, DatabaseDamaged):
                    self._guard.note(error)
                reply = explain(error, call.operation.name)
            watch.end(call.operation.name)
            if db is not None and self._store.is_scarce:
                db.close()  # which makes room for another lane, or for a read
                db = None
            self._loop.call_soon_threadsafe(self._deliver, done, reply)
            if lane is self._lanes[0] and self._upkeep.is_due() and self._guard.ban is None:
                db = self._keep_up(db)
        if db is not None:
            db.close()

    def _seconds_left(self, lane: "SimpleQueue[_Item | None]") -> float | None:
        """The time until the first lane takes a step of upkeep; None if this lane takes none."""
        return self._upkeep.seconds_left() if lane is self._lanes[0] and self._guard.ban is None else None

    def _keep_up(self, db: Connection | None) -> Connection | None:
        """A step of upkeep, which the first lane takes; the connection that it has then, if the server answers."""
        if self._guard.ban is not None:
            return db
        try:
            if db is None or db.is_broken:
                if db is not None:
                    db.close()
                db = self._store.connect()
        except RametError as error:
            self._upkeep.postpone(error)
            return None
        self._upkeep.step(db)
        return db

    def _begin(self, db: Connection | None, call: Call) -> Connection:
        """A connection with an open transaction: the one from before, or a new one if the server has closed that."""
        if db is not None:
            try:
                if not db.is_broken:
                    db.begin(locks_rows=call.operation.locks_rows)
                    return db
            except DatabaseUnreachable:
                pass  # it was closed since its last use
            db.close()
        db = self._store.connect_for_long() if call.operation.is_long else self._store.connect()
        db.begin(locks_rows=call.operation.locks_rows)
        return db

    def _persist(self, db: Connection, call: Call) -> Any:
        """The operation in the transaction that is open, and in others after it, as often as it takes."""
        for attempt in range(self._retries):
            try:
                return self._once(db, call)
            except Retry:
                db.rollback()
                time.sleep(random.uniform(0, min(0.001 * 2**attempt, _LONGEST_PAUSE_SECONDS)))  # noqa: S311
                db.begin(locks_rows=call.operation.locks_rows)
            except BaseException:
                db.rollback()
                raise
        db.rollback()
        raise TooContended(f"the request conflicted with other transactions {self._retries} times")

    def _once(self, db: Connection, call: Call) -> Any:
        reply = self._engine.perform(db, call, self._clock.now_ms())
        if (refusal := self._guard.refusal(call.operation)) is not None:
            raise refusal
        self._faults.reach("before_commit")
        try:
            db.commit()
        except StoreError as error:
            if not db.is_broken:
                raise
            is_late = isinstance(error, DeadlineExceeded)
            did = "did not answer the commit in time" if is_late else "disconnected during the commit"
            raise (DeadlineExceeded if is_late else DatabaseUnreachable)(
                f"the PostgreSQL server {did}; it is not known whether the request was saved",
                fix="check with `ramet events` whether it was saved; "
                "a program repeats it with the same idempotency_key",
            ) from error
        self.transactions += 1
        return reply

    def _deliver(self, done: Done, reply: Any) -> None:
        self._meter.begin()
        done(reply)
        self._on_commit("work")
        self._listening.committed()
        self._meter.end("deliver")


def _subject(request: Request[Any]) -> Any:
    """What a change is about: changes with the same subject take turns. The hooks of a session, and what is read of its
    transcript behind them, have that transcript in common.
    """
    match request:
        case RecordHook(event=event):
            return event.transcript_path or event.native_id
        case AddEntries(path=path):
            return path
    return next((value for name in _SUBJECTS if (value := getattr(request, name, None)) is not None), None)
