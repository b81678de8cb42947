"""Looking at the disk for hooks, for no longer than an agent should wait for that.

A disk may hang, and whoever looks at it then hangs, too. So it is done on a few threads of its own: nobody waits for
them when the time is over, nor does a daemon that stops.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import NamedTuple, Self

from ramet.config.settings import HookSettings
from ramet.model.hooks.hook import HookEvent
from ramet.protocol.hooks.hooks import HookFacts

log = logging.getLogger(__name__)

BOUNDARIES = ("session_start", "pre_compact")
"""Where a context begins anew: all that was said has to be known, and what the disk says matters."""

_THREADS = 4

Look = Callable[[], HookFacts]


class Patience(NamedTuple):
    """How long what may take that a hook waits for, in seconds: parts of the time after which its program gives it up,
    which together leave some of it for the answer.
    """

    look: float
    """At the disk, at a tool call."""
    look_at_boundary: float
    git: float
    """Less than a look, which then has the rest."""
    read: float
    """Of a transcript, before a look at a boundary."""

    @classmethod
    def of(cls, settings: HookSettings) -> Self:
        """The parts of the deadlines that are configured."""
        deadline, at_boundary = settings.deadline_ms / 1000, settings.start_deadline_ms / 1000
        return cls(
            look=0.5 * deadline, look_at_boundary=0.3 * at_boundary, git=0.2 * at_boundary, read=0.6 * at_boundary
        )


class DiskLookups:
    """A few threads that look. They end with the process, whatever they wait for."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._queue: SimpleQueue[tuple[Future[HookFacts], Look] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []

    async def look(self, event: HookEvent, look: Look) -> HookFacts | None:
        """What it finds; None where it takes too long."""
        found: Future[HookFacts] = Future()
        self._queue.put((found, look))
        if len(self._threads) < _THREADS:
            self._threads.append(threading.Thread(target=self._work, name="looker", daemon=True))
            self._threads[-1].start()
        is_boundary = event.moment in BOUNDARIES
        try:
            async with asyncio.timeout(self._patience.look_at_boundary if is_boundary else self._patience.look):
                return await asyncio.wrap_future(found)
        except TimeoutError:
            log.warning("disk too slow for a hook event=%s/%s cwd=%s", event.vendor, event.name, event.cwd)
            return None

    def close(self) -> None:
        """Let them end what they began, for as long as git may take, which then is ended: else it would outlive us."""
        deadline = time.monotonic() + self._patience.look_at_boundary
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            found, look = item
            if not found.set_running_or_notify_cancel():
                continue  # nobody waits for it any more
            try:
                found.set_result(look())
            except Exception as error:  # noqa: BLE001 - whoever asked is told
                found.set_exception(error)
