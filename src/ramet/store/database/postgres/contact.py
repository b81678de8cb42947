"""Whether a server answers this daemon: asked every two seconds, on the connection that hears its news.

A server that is down refuses a connection at once. One that is frozen, or behind a broken network, is silent for a long
time. Either way no lease could be renewed meanwhile, and the first one who claims afterwards must not take over the
efforts of holders that are well and have not been able to report yet.
"""

from collections.abc import Callable
from typing import NamedTuple

from ramet.clock import Clock, steady_seconds

LONG_SECONDS = 5.0
"""An answer that takes longer was an outage. A lease is renewed at least twice in any shorter time that matters."""


class Outage(NamedTuple):
    """A time in which the server did not answer."""

    began_ms: int
    """When it last answered before."""
    ended_ms: int


class Contact:
    """What is known of the server. The listener's thread asks; any thread may look."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._asked_at: float | None = None
        self._answered_ms: int | None = None

    @property
    def is_lost(self) -> bool:
        """Whether the server has owed an answer for long: what it last said may be long over."""
        asked_at = self._asked_at
        return asked_at is not None and steady_seconds() - asked_at > LONG_SECONDS

    def expect(self) -> None:
        """An answer is waited for from now on, if it is not already."""
        if self._asked_at is None:
            self._asked_at = steady_seconds()

    def forget(self) -> None:
        """Nobody asks any more."""
        self._asked_at = self._answered_ms = None

    def answered(self, tell: Callable[[Outage], None]) -> None:
        """The server has answered. If that took long, it is told before anybody may rely on the contact again."""
        now_ms = self._clock.now_ms()
        if self.is_lost and self._answered_ms is not None:
            tell(Outage(self._answered_ms, now_ms))
        self._asked_at, self._answered_ms = None, now_ms
