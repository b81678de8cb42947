"""The budget: how much of one turn of the event loop ordinary requests may take, so that a hook never waits for many.

Five hundred clients can send a request each in one moment. Started all at once, they would hold the loop for tens of
milliseconds, and a hook that arrives then would wait for all of them. So each turn starts as many as fit in a few
milliseconds, in the order in which they came. What concerns the daemon itself, hooks among it, is started at once.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable

from ramet.daemon.stalls import Stopwatch
from ramet.daemon.wire.calls import Call

_TURN_SECONDS = 0.002


class LoopBudget:
    """Starts calls, a turn's worth at a time."""

    def __init__(self, loop: asyncio.AbstractEventLoop, start: Callable[[Call], None], meter: Stopwatch) -> None:
        self._loop = loop
        self._meter = meter
        self._start = start
        self._waiting: deque[Call] = deque()
        self._used_seconds = 0.0
        self._is_counting = False
        """Whether this turn has begun to count, and its end is scheduled."""

    def take(self, call: Call) -> None:
        """Start a call now, or in one of the next turns."""
        if call.operation.host == "daemon":
            self._start(call)
            return
        if not self._is_counting:
            self._is_counting = True
            self._loop.call_soon(self._next)
        if self._waiting or self._used_seconds > _TURN_SECONDS:
            self._waiting.append(call)
        else:
            self._start_counting(call)

    def _next(self) -> None:
        """Begin another turn with what waits."""
        self._meter.begin()
        self._used_seconds = 0.0
        while self._waiting and self._used_seconds <= _TURN_SECONDS:
            self._start_counting(self._waiting.popleft())
        self._is_counting = bool(self._waiting)
        if self._is_counting:
            self._loop.call_soon(self._next)
        self._meter.end("start")

    def _start_counting(self, call: Call) -> None:
        begun = time.perf_counter()
        self._start(call)
        self._used_seconds += time.perf_counter() - begun
