"""Who ends the wait for a server that says nothing: a thread that times the statements of all connections.

A frozen server, or a network that swallows everything, never answers `statement_timeout`. A connection that waits for
too long is cut from outside: its own thread then fails with an error, and opens another one.
"""

import threading
import time
from collections.abc import Callable
from typing import Protocol

_LOOK_SECONDS = 0.5
_HURRY_SECONDS = 3.0
"""How long a statement may take while the daemon stops."""
_ANSWERED_SECONDS = 10.0


class Watched(Protocol):
    """A connection, as the thread sees it."""

    waits_since: float | None
    """Since when it has been waiting for the server, by the steady clock; None if it waits for nothing."""
    silence_seconds: float
    """How long it waits."""
    is_patient: bool
    """Whether it waits on while the server answers others: a long read may be one long statement."""

    def cut(self) -> None:
        """End its wait, from another thread."""

    def release(self) -> None:
        """Give its place at the server to another one, if it is not in use."""


class StatementWatch:
    """Watches the connections of one store. Its thread starts with the first of them."""

    def __init__(self, probe: Callable[[], bool]) -> None:
        """`probe`: whether the server answers a new connection."""
        self._probe = probe
        self._watched: set[Watched] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_closed = threading.Event()
        self._answered_at = 0.0
        self._is_hurried = False
        self.is_given_up = False
        """Whether a connection was cut while the daemon stops: nobody waits for this server any more."""

    def add(self, connection: Watched) -> None:
        """Watch a connection."""
        with self._lock:
            self._watched.add(connection)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="statements", daemon=True)
                self._thread.start()

    def remove(self, connection: Watched) -> None:
        """It is closed."""
        with self._lock:
            self._watched.discard(connection)

    def hurry(self) -> None:
        """The daemon stops: wait for no server that is silent."""
        self._is_hurried = True

    def release_idle(self) -> None:
        """The server has no connection left: end those that are not in use. Their owners open others when they do."""
        with self._lock:
            watched = tuple(self._watched)
        for each in watched:
            each.release()

    def close(self) -> None:
        """End the thread."""
        self._is_closed.set()

    def _run(self) -> None:
        while not self._is_closed.wait(_LOOK_SECONDS):
            self._look()

    def _look(self) -> None:
        with self._lock:
            waiting = [(each, since) for each in self._watched if (since := each.waits_since) is not None]
        late = [(each, since) for each, since in waiting if time.monotonic() - since > self._limit(each)]
        patient = [(each, since) for each, since in late if each.is_patient and not self._is_hurried]
        for each, since in late:
            if (each, since) not in patient:
                self._cut(each, since)
        if patient and self._is_silent():
            for each, since in patient:
                self._cut(each, since)

    def _limit(self, each: Watched) -> float:
        return min(each.silence_seconds, _HURRY_SECONDS) if self._is_hurried else each.silence_seconds

    def _cut(self, each: Watched, since: float) -> None:
        if each.waits_since == since:  # it may have been answered meanwhile
            self.is_given_up = self._is_hurried
            each.cut()

    def _is_silent(self) -> bool:
        """Whether the server answers nobody. One answer counts for a while."""
        if time.monotonic() - self._answered_at < _ANSWERED_SECONDS:
            return False
        if not self._probe():
            return True
        self._answered_at = time.monotonic()
        return False
