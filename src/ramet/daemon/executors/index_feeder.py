"""The feeder: the thread that keeps the search index behind the database, out of everybody's way.

It works in steps of a few milliseconds and rests after each in proportion to the time that it took. While requests come
in, it rests so long that fewer than one request in twenty can meet a step: what 95 % of them take does not change. It
opens nothing until there is something to do, so a daemon that lives for a moment never has an index.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from ramet.engine.memory.search.index_feed import IndexFeed
from ramet.errors import IndexDamaged, RametError
from ramet.store import Store
from ramet.store.database.blobs import Codec
from ramet.store.database.connection import Connection
from ramet.store.memory.index.search_index import SearchIndex

log = logging.getLogger(__name__)

_FIRST_SECONDS = 2.0
"""How long a daemon runs before its index is looked at."""
_GATHER_SECONDS = 0.25
"""How long a change waits for others, so that a busy moment is read at once."""
_SHARED_SECONDS = 5.0
"""How often a shared database is asked for what other machines wrote."""
_QUIET_RATIO = 0.5
_BUSY_RATIO = 30.0
_BUSY_SECONDS = 0.5
"""For how long after a request the daemon counts as busy."""
_LONGEST_REST_SECONDS = 1.0
_RETRY_SECONDS = 30.0
_PATIENCE_SECONDS = 2.0
"""How long a query waits for what was written just before it."""
_MANY_STEPS = 50
"""An index that is further behind is being built: nobody waits for it."""


class _Waiting:
    """A query that waits until the index has what was written before it."""

    def __init__(self, ticket: int, then: Callable[[], None], loop: asyncio.AbstractEventLoop) -> None:
        self.ticket = ticket
        self.loop = loop
        self.timer: asyncio.TimerHandle | None = None
        self._then: Callable[[], None] | None = then

    def go(self) -> None:
        """Let it go on, once. On the event loop's thread."""
        then, self._then = self._then, None
        if self.timer is not None:
            self.timer.cancel()
        if then is not None:
            then()


class IndexFeeder:
    """Feeds one index from one database."""

    def __init__(
        self,
        store: Store,
        index: SearchIndex,
        *,
        is_shared: bool,
        embed: Callable[[], bool] | None = None,
    ) -> None:
        """`embed` gives a few more texts their vectors; False if all have theirs."""
        self._store = store
        self._index = index
        self._feed = IndexFeed(index, Codec())
        self._embed = embed
        self._embed_after = 0.0
        self._poll_seconds = _SHARED_SECONDS if is_shared else None
        self._count_requests: Callable[[], int] = int
        self._requests = 0
        self._busy_until = 0.0
        self._db: Connection | None = None
        self._changed = threading.Condition()
        self._is_awake = self._is_stopping = self._is_urgent = False
        self._asked = 0
        self._waiting: list[_Waiting] = []
        self._steps = 0
        self._thread = threading.Thread(target=self._run, name="index", daemon=True)

    async def follow(self, count_requests: Callable[[], int]) -> None:
        """Feed the index until this is cancelled. `count_requests` says how busy the daemon is."""
        self._count_requests = count_requests
        self._thread.start()
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            # Not here: the thread may wait for an answer that this event loop gives.
            await asyncio.to_thread(self.close)

    def wake(self) -> None:
        """Something was written. Called with every commit, so it does nothing if the thread knows already."""
        if not self._is_awake:
            with self._changed:
                self._is_awake = True
                self._changed.notify_all()

    def freshen(self, then: Callable[[], None]) -> None:
        """Call `then` on the event loop's thread once what was written before is in the index, or after a moment."""
        loop = asyncio.get_running_loop()
        with self._changed:
            if self._steps <= _MANY_STEPS and self._thread.is_alive() and not self._is_stopping:
                self._asked += 1
                waiting = _Waiting(self._asked, then, loop)
                waiting.timer = loop.call_later(_PATIENCE_SECONDS, waiting.go)
                self._waiting.append(waiting)
                self._is_awake = self._is_urgent = True
                self._changed.notify_all()
                return
        then()

    def note_damage(self) -> None:
        """A reader found that the index cannot be read: a new one is built."""
        self._index.is_damaged = True
        self.wake()

    def close(self) -> None:
        """Stop after the current step, and let go of the file."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify_all()
        self._thread.join()
        self._index.close()

    def _run(self) -> None:
        try:
            self._wait(_FIRST_SECONDS, lambda: self._is_urgent)
            while not self._is_stopping:
                self._work()
        finally:
            if self._db is not None:
                with suppress(Exception):
                    self._db.close()

    def _work(self) -> None:
        """Read what there is, then wait for more."""
        with self._changed:
            self._is_awake, asked = False, self._asked
        started = time.perf_counter()
        try:
            has_more = self._step()
        except IndexDamaged:
            self._index.is_damaged = has_more = True
        except Exception as error:  # noqa: BLE001 - the daemon needs no index
            log.warning("the search index could not be fed error=%s: %s", type(error).__name__, error)
            self._steps = _MANY_STEPS + 1
            self._wait(_RETRY_SECONDS, lambda: False)
            return
        if has_more:
            self._steps += 1
            self._rest(time.perf_counter() - started)
            return
        with self._changed:
            self._steps, self._is_urgent = 0, self._asked > asked
            self._tell_waiting(asked)
        if not self._give_vectors():
            self._wait(self._pause_seconds(), lambda: self._is_awake)
            self._wait(_GATHER_SECONDS, lambda: self._is_urgent)

    def _tell_waiting(self, asked: int) -> None:
        """Let go on who asked up to a number; with the lock."""
        served = [each for each in self._waiting if each.ticket <= asked]
        self._waiting = [each for each in self._waiting if each.ticket > asked]
        for each in served:
            with suppress(RuntimeError):  # the loop is closed
                each.loop.call_soon_threadsafe(each.go)

    def _give_vectors(self) -> bool:
        """Give a few texts their vectors, now that all words are read; False if there is nothing to do, or a model has
        failed a moment ago.
        """
        started = time.perf_counter()
        if self._embed is None or time.monotonic() < self._embed_after:
            return False
        try:
            has_more = self._embed()
        except (RametError, OSError, ValueError) as error:
            log.warning("no vectors for the search index error=%s: %s", type(error).__name__, error)
            self._embed_after = time.monotonic() + _RETRY_SECONDS
            return False
        self._rest(time.perf_counter() - started)
        return has_more

    def _pause_seconds(self) -> float | None:
        """How long to wait for something to be written; less if a model is to be asked again."""
        retry = max(self._embed_after - time.monotonic(), 0.0) or None
        return min(filter(None, (self._poll_seconds, retry)), default=None)

    def _step(self) -> bool:
        if self._db is None or self._db.is_broken:
            self._db = self._store.connect_reader()
        self._db.begin_reading()
        try:
            return self._feed.step(self._db)
        finally:
            self._db.rollback()
            if self._store.is_scarce:
                self._db.close()
                self._db = None

    def _rest(self, worked_seconds: float) -> None:
        """Rest in proportion to the work; while a query waits for this, not at all."""
        now, requests = time.monotonic(), self._count_requests()
        if requests != self._requests:
            self._requests, self._busy_until = requests, now + _BUSY_SECONDS
        ratio = _BUSY_RATIO if now < self._busy_until else _QUIET_RATIO
        if not (self._is_urgent and self._steps <= _MANY_STEPS):
            self._wait(min(worked_seconds * ratio, _LONGEST_REST_SECONDS), lambda: False)

    def _wait(self, seconds: float | None, until: Callable[[], bool]) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._is_stopping or until(), seconds)
