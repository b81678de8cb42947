"""The stall meter: how long the event loop and the writer were held, and by which operation.

A hook waits for both. So everything that runs on them is timed from entry to exit, with two or three reads of a clock
and no thread of its own. Elapsed time is what a hook waits; processor time tells long work from a busy machine.

uvloop cannot report slow callbacks. The entries (bytes received, replies delivered, steps of tasks, timers) therefore
say themselves when they start and end. A heartbeat finds pauses of any other origin, though not all of them.
"""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Coroutine, Generator
from math import inf
from time import monotonic, thread_time
from types import TracebackType
from typing import Any, Self

from ramet.protocol.hooks.hooks import HookCall
from ramet.protocol.system.daemon import PauseReport, PauseRow

log = logging.getLogger(__name__)

_LEAST_SECONDS = 0.005
"""Shorter pauses are not recorded."""
_LONG_SECONDS = 0.02
"""From here on a pause is counted: DESIGN allows no step that is longer."""
_LOGGED_SECONDS = 0.05
_LOG_INTERVAL_SECONDS = 10.0
_MOST_ROWS = 10
_MOST_NAMES = 500
"""More names than there are operations and kinds of tasks."""
_BUCKET_SECONDS = 300.0
_BUCKETS = 12
"""The last hour, in steps of five minutes."""
_PROCESSOR_AGE_SECONDS = 0.005
"""How old the reading of the processor's clock may be, which takes ten times as long to read as the other one."""
_BEAT_SECONDS = 0.25

OTHER = "other"
"""What no entry names: for example, many short requests in one turn of the loop."""
_OPERATIONS = {"HookService._answer": HookCall.op.name}
"""Tasks that are part of an operation, by the names of their functions."""


class _Row:
    """The pauses by one operation."""

    __slots__ = ("count", "longest", "processor")

    def __init__(self) -> None:
        self.count = 0
        self.longest = 0.0
        self.processor = 0.0


class Pauses:
    """The pauses of the loop, or of the writer. Threads may add to them at once."""

    def __init__(self, what: str) -> None:
        """`what` is the word for it in the log."""
        self.what = what
        self._lock = threading.Lock()
        self._rows: dict[str, _Row] = {}
        self._recent: deque[tuple[int, float]] = deque(maxlen=_BUCKETS)
        self._logged_at = -inf
        self._logged_seconds = 0.0
        self._unlogged = 0

    def add(self, name: str, seconds: float, processor_seconds: float) -> None:
        """It was held for so long by `name`; and the processor was busy with that for so long."""
        now = monotonic()
        with self._lock:
            if name not in self._rows and len(self._rows) >= _MOST_NAMES:
                name = OTHER
            row = self._rows.setdefault(name, _Row())
            row.count += seconds > _LONG_SECONDS
            row.longest = max(row.longest, seconds)
            row.processor = max(row.processor, processor_seconds)
            self._remember(int(now // _BUCKET_SECONDS), seconds)
            unlogged = self._take_turn_to_log(now, seconds) if seconds > _LOGGED_SECONDS else None
        if unlogged is not None:
            line = "%s paused by=%s ms=%d processor_ms=%d unlogged=%d"
            log.warning(line, self.what, name, seconds * 1000, processor_seconds * 1000, unlogged)

    def show(self) -> PauseReport:
        """All of it, the longest first."""
        oldest = int(monotonic() // _BUCKET_SECONDS) - _BUCKETS
        with self._lock:
            rows = sorted(self._rows.items(), key=lambda each: -each[1].longest)
            recent = max((seconds for bucket, seconds in self._recent if bucket > oldest), default=0.0)
            count = sum(row.count for _, row in rows)
        worst = [
            PauseRow(name=name, count=row.count, longest_ms=_ms(row.longest), processor_ms=_ms(row.processor))
            for name, row in rows[:_MOST_ROWS]
        ]
        longest = worst[0].longest_ms if worst else 0.0
        return PauseReport(longest_ms=longest, recent_ms=_ms(recent), count=count, worst=worst)

    def log_summary(self) -> None:
        """Say at the end what was longest: by elapsed time, and by the processor's."""
        with self._lock:
            if not self._rows:
                return
            slowest, longest = max(self._rows.items(), key=lambda each: each[1].longest)
            busiest, most = max(self._rows.items(), key=lambda each: each[1].processor)
        line = "%s longest by=%s ms=%d, most processor time by=%s processor_ms=%d"
        log.info(line, self.what, slowest, longest.longest * 1000, busiest, most.processor * 1000)

    def _remember(self, bucket: int, seconds: float) -> None:
        if self._recent and self._recent[-1][0] == bucket:
            seconds = max(seconds, self._recent.pop()[1])
        self._recent.append((bucket, seconds))

    def _take_turn_to_log(self, now: float, seconds: float) -> int | None:
        """How many were not logged since the last line; None if this one is not logged either. A much longer one is."""
        if now - self._logged_at < _LOG_INTERVAL_SECONDS and seconds < 2 * self._logged_seconds:
            self._unlogged += 1
            return None
        unlogged, self._unlogged = self._unlogged, 0
        self._logged_at, self._logged_seconds = now, seconds
        return unlogged


class Stopwatch:
    """Times what one thread does, from `begin` to `end`, with a lap for each operation in between.

    A lap outside of that counts nothing: how long the thread has been idle is unknown.
    """

    def __init__(self, pauses: Pauses) -> None:
        self.pauses = pauses
        self._since = inf
        self._processor = 0.0
        self._processor_at = -inf
        self._timed = 0.0
        """The sum of all laps."""

    def begin(self) -> None:
        """The thread starts to do something."""
        now = self._since = monotonic()
        if now - self._processor_at > _PROCESSOR_AGE_SECONDS:
            self._processor_at, self._processor = now, thread_time()

    def lap(self, name: str) -> None:
        """What was done since `begin`, or since the last lap, was this."""
        now = monotonic()
        seconds = now - self._since
        if seconds < 0:
            return
        self._since = now
        self._timed += seconds
        if seconds > _LEAST_SECONDS:
            self._note(name, seconds, now)

    def end(self, name: str) -> None:
        """The last lap: the thread waits for something to do."""
        now = monotonic()
        seconds = now - self._since
        self._since = inf
        if seconds > 0:
            self._timed += seconds
            if seconds > _LEAST_SECONDS:
                self._note(name, seconds, now)

    def _note(self, name: str, seconds: float, now: float) -> None:
        processor = thread_time()
        self.pauses.add(name, seconds, min(seconds, processor - self._processor))
        self._processor_at, self._processor = now, processor


class LoopMeter(Stopwatch):
    """Times an event loop: its entries, the steps of all its tasks, and its heartbeat."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(Pauses("event loop"))
        self.loop = loop
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._beat_processor = 0.0
        self._beat_timed = 0.0
        self._beat_longest = 0.0
        """The longest lap since the last beat."""

    @classmethod
    def install(cls, loop: asyncio.AbstractEventLoop) -> Self:
        """A meter that times every task that the loop starts from now on."""
        meter = cls(loop)
        loop.set_task_factory(meter._make_task)
        return meter

    def _make_task(self, loop: asyncio.AbstractEventLoop, coroutine: Any, **how: Any) -> "asyncio.Task[Any]":
        return asyncio.Task(_Steps(coroutine, self), loop=loop, **how)

    def start_beating(self) -> None:
        """Somebody is connected, who may be kept waiting."""
        if self._timer is None:
            self._expect_beat()

    def stop_beating(self) -> None:
        """Nobody is connected."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expect_beat(self) -> None:
        self._due = monotonic() + _BEAT_SECONDS
        self._beat_processor, self._beat_timed, self._beat_longest = thread_time(), self._timed, 0.0
        self._timer = self.loop.call_later(_BEAT_SECONDS, self._beat)

    def _beat(self) -> None:
        late = monotonic() - self._due
        if late > max(self._beat_longest, _LONG_SECONDS):
            # Laps are subtracted, also what they waited: so this is never more than what the rest took.
            untimed = thread_time() - self._beat_processor - (self._timed - self._beat_timed)
            self.pauses.add(OTHER, late, min(late, max(untimed, 0.0)))
        self._expect_beat()

    def _note(self, name: str, seconds: float, now: float) -> None:
        self._beat_longest = max(self._beat_longest, seconds)
        super()._note(name, seconds, now)


class _Steps(Coroutine[Any, Any, Any]):
    """A task's coroutine, each step of which is timed."""

    __slots__ = ("_coroutine", "_meter", "_name")

    def __init__(self, coroutine: Any, meter: Stopwatch) -> None:
        self._coroutine = coroutine
        self._meter = meter
        name = getattr(coroutine, "__qualname__", type(coroutine).__name__)
        self._name = _OPERATIONS.get(name, name)

    def __repr__(self) -> str:
        return repr(self._coroutine)

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._coroutine.__await__()  # type: ignore[no-any-return]

    def send(self, value: Any) -> Any:
        self._meter.begin()
        try:
            return self._coroutine.send(value)
        finally:
            self._meter.end(self._name)

    def throw(self, kind: Any, value: BaseException | object = None, traceback: TracebackType | None = None) -> Any:
        self._meter.begin()
        try:
            if value is None and traceback is None:
                return self._coroutine.throw(kind)
            return self._coroutine.throw(kind, value, traceback)
        finally:
            self._meter.end(self._name)

    def close(self) -> None:
        self._coroutine.close()


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)
