"""Time as an argument: whoever needs the time is given a `Clock`.

Inside Ramet an instant is an integer of milliseconds since 1970 UTC; ISO-8601 text with a zone appears only
at the edges (`ramet.model.instant`).
"""

import time
from typing import Protocol


class Clock(Protocol):
    """Tells the time in milliseconds since 1970 UTC."""

    def now_ms(self) -> int: ...


class SystemClock:
    """The machine's clock, which never runs backwards here, so that rows written later never look older."""

    def __init__(self) -> None:
        self._latest_ms = 0

    def now_ms(self) -> int:
        self._latest_ms = max(self._latest_ms, time.time_ns() // 1_000_000)
        return self._latest_ms
