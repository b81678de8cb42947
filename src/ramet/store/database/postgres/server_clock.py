"""The server's clock, told here without asking it: how far it is from this machine's steady clock is measured when a
connection is made, and again from time to time.

So no transaction needs one more statement, and a machine whose own clock is wrong, or is set while a daemon runs,
writes the same instants as all others.
"""

import time
from collections.abc import Callable

from ramet.clock import ForwardClock, steady_ns
from ramet.protocol.system.daemon import ClockSkew

_FRESH_NS = 300 * 1_000_000_000
"""How long a measurement is used."""
_STEP_NS = 1_000_000_000
"""If the machine's clock moved by more than this against its steady clock, it was set, or this is a virtual machine
that was paused. The steady clock of such a machine does not know of the pause.
"""
_DRIFT = 2000
"""A steady clock may be wrong by one part in so many."""
_SAMPLES = 3
_GOOD_NS = 5_000_000
"""An error that is not worth a second question."""


class ServerClock(ForwardClock):
    """The clock of one server. Used by all threads: two that measure at once do no harm."""

    def __init__(self) -> None:
        super().__init__()
        self._lead_ns = self._wall_lead_ns = time.time_ns() - steady_ns()
        """How far the server's clock and the machine's own are ahead of the steady one; the same until it is asked."""
        self._error_ns: int | None = None
        self._measured_ns = self._looked_ns = steady_ns()

    def source_ns(self) -> int:
        return steady_ns() + self._lead_ns

    @property
    def is_stale(self) -> bool:
        """Whether to measure again before the next use."""
        now_ns = steady_ns()
        moved_ns = time.time_ns() - now_ns - self._wall_lead_ns
        return self._error_ns is None or now_ns - self._looked_ns > _FRESH_NS or abs(moved_ns) > _STEP_NS

    def measure(self, ask: Callable[[], int]) -> None:
        """Ask the server for its time in microseconds. The round trip bounds the error, so a slow one is repeated."""
        for _ in range(_SAMPLES):
            before_ns = steady_ns()
            server_ns = ask() * 1000
            after_ns = steady_ns()
            self._learn(server_ns - (before_ns + after_ns) // 2, (after_ns - before_ns) // 2, after_ns)
            if after_ns - before_ns <= 2 * _GOOD_NS:
                break
        self._looked_ns = steady_ns()
        self._wall_lead_ns = time.time_ns() - self._looked_ns

    def _learn(self, lead_ns: int, error_ns: int, now_ns: int) -> None:
        """Take the new measurement if it is the better one, or if it shows that the server's clock was set."""
        if self._error_ns is not None:
            known_ns = self._error_ns + (now_ns - self._measured_ns) // _DRIFT
            if error_ns > known_ns and abs(lead_ns - self._lead_ns) <= error_ns + known_ns:
                return
        self._lead_ns, self._error_ns, self._measured_ns = lead_ns, error_ns, now_ns

    def skew(self) -> ClockSkew | None:
        """How far this machine's clock is from the server's; None until the server was asked."""
        if self._error_ns is None:
            return None
        ahead_ns = time.time_ns() - steady_ns() - self._lead_ns
        return ClockSkew(ahead_seconds=round(ahead_ns / 1e9, 3), error_seconds=round(self._error_ns / 1e9, 4))
