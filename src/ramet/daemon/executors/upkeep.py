"""Upkeep: what is removed because it is too old or too large, by a deadline and not when the queue is empty.

Kept replies go in steps of a bounded number of rows, each in a transaction of its own. While rows are left, the next
step follows after a short rest, in which requests are served; so upkeep delays no request by more than one step, and no
stream of requests delays upkeep. The write-ahead log of a SQLite file is cut once the reader that made it large is
gone.
"""

import logging
import math
import time
from collections.abc import Callable

from ramet.clock import Clock
from ramet.engine import Engine
from ramet.protocol.system.database import LogState
from ramet.store.database.connection import Connection

log = logging.getLogger(__name__)

_REPLIES_SECONDS = 1800.0
"""How late the removal of replies starts that have become too old: it ends within the hour."""
_LOG_SECONDS = 10.0
_RETRY_SECONDS = 60.0
_REST_SECONDS = 0.05
_STEP_ROWS = 500
"""How many replies one step removes: about 4 ms of the writer."""
_WARNING_SECONDS = 3600.0


class Upkeep:
    """When the next step is due, and the step. Only the thread that owns the connection uses it."""

    def __init__(self, engine: Engine, clock: Clock, limit_log: Callable[[], LogState] | None = None) -> None:
        """`limit_log` cuts the write-ahead log, if the database has one of ours."""
        self._engine = engine
        self._clock = clock
        self._limit_log = limit_log
        self._replies_due = 0.0
        self._log_due = math.inf if limit_log is None else 0.0
        self._warning_due = 0.0

    def seconds_left(self) -> float:
        """The time until the next step; 0 if it is due."""
        return max(0.0, min(self._replies_due, self._log_due) - time.monotonic())

    def is_due(self) -> bool:
        """Whether a step is due now."""
        now = time.monotonic()
        return now >= self._replies_due or now >= self._log_due

    def step(self, db: Connection) -> None:
        """Take the step that is due. One that fails is tried again a little later."""
        if time.monotonic() >= self._replies_due:
            self._forget_replies(db)
        elif self._limit_log is not None:
            self._look_at_log(self._limit_log)

    def postpone(self, error: Exception) -> None:
        """Try again later, because the database does not answer."""
        self._replies_due = time.monotonic() + _RETRY_SECONDS
        log.warning("upkeep failed error=%s", type(error).__name__)

    def _forget_replies(self, db: Connection) -> None:
        try:
            db.begin()
            removed = self._engine.forget_old_replies(db, self._clock.now_ms(), _STEP_ROWS)
            db.commit()
        except Exception as error:  # noqa: BLE001 - requests must be served whatever happens here
            self.postpone(error)
            _undo(db)
            return
        self._replies_due = time.monotonic() + (_REST_SECONDS if removed == _STEP_ROWS else _REPLIES_SECONDS)

    def _look_at_log(self, limit_log: Callable[[], LogState]) -> None:
        self._log_due = time.monotonic() + _LOG_SECONDS
        try:
            found = limit_log()
        except Exception as error:  # noqa: BLE001 - the same
            log.warning("the write-ahead log cannot be cut error=%s", type(error).__name__)
            return
        if found.is_large and found.readers and time.monotonic() >= self._warning_due:
            self._warning_due = time.monotonic() + _WARNING_SECONDS
            megabytes, readers = found.bytes >> 20, ", ".join(found.readers)
            log.warning("the write-ahead log has %d MiB because of long reads readers=%s", megabytes, readers)


def _undo(db: Connection) -> None:
    try:
        db.rollback()
    except Exception:
        log.exception("a rollback failed")
