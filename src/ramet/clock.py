"""Time as an argument: whoever needs the time is given a `Clock`.

Inside Ramet an instant is an integer of milliseconds since 1970 UTC; ISO-8601 text with a zone appears only
at the edges (`ramet.model.instant`).

Everything that several hosts compare is an instant of the database's clock: on a file, which one machine has, that
is the machine's own; on a server it is the server's (`ramet.store.database.postgres.server_clock`).
"""

import time
from abc import ABC, abstractmethod
from typing import Protocol

_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Clock(Protocol):
    """Tells the time in milliseconds since 1970 UTC."""

    def now_ms(self) -> int: ...


def steady_ns() -> int:
    """The time since this machine was started, with the time in which it slept. Nobody can set it."""
    return time.clock_gettime_ns(_STEADY)


def steady_seconds() -> float:
    """The same in seconds."""
    return steady_ns() / 1e9


class ForwardClock(ABC):
    """Follows a source, but never runs backwards, so that rows written later never look older.

    If the source is set back, this runs at half speed until the source has caught up. If it stood still for as long,
    no lease would end and no effort would be tried again meanwhile.
    """

    def __init__(self) -> None:
        self._latest_ns = 0
        self._seen_ns = steady_ns()

    @abstractmethod
    def source_ns(self) -> int:
        """What the source says, in nanoseconds since 1970."""

    def now_ms(self) -> int:
        seen_ns, now_ns = steady_ns(), self.source_ns()
        if now_ns < self._latest_ns:
            now_ns = self._latest_ns + max(seen_ns - self._seen_ns, 0) // 2
        self._seen_ns, self._latest_ns = seen_ns, now_ns
        return now_ns // 1_000_000


class SystemClock(ForwardClock):
    """The machine's clock."""

    def source_ns(self) -> int:
        return time.time_ns()
