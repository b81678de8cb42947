"""The second guard of leases: the daemon ends an agent whose keeper does not renew its lease, before the lease is over.

A keeper ends its own agent in time if it can do anything at all, and on Linux the kernel ends a keeper that is stopped.
What is left is a keeper that waits in the kernel itself, as for a disk that hangs, and systems without such a timer.
The daemon knows when each keeper last renewed its lease, because the renewals pass through it.
"""

import asyncio
import logging
import os
import signal
from contextlib import suppress
from pathlib import Path

from ramet.clock import steady_seconds
from ramet.runner.processes import keepers, process_identity, process_tree

log = logging.getLogger(__name__)

_MARGIN_SECONDS = 0.5
"""How long before its lease ends an agent is ended here: after its keeper would have. Of a short lease a twentieth."""
_LOOK_SECONDS = 1.0
"""How long to sleep at most: a timer does not count the time for which the machine sleeps."""


class LeaseGuard:
    """The leases of this daemon's keepers, if other machines could take them. Used on the event loop's thread."""

    def __init__(self, folder: Path, lease_seconds: int, *, is_fenced: bool) -> None:
        self._folder = folder
        self._lease_seconds = lease_seconds - min(_MARGIN_SECONDS, lease_seconds / 20)
        self._is_fenced = is_fenced
        self._renewed_at: dict[str, float] = {}
        self._has_leases = asyncio.Event()

    def watch(self, instance: str, renewed_at: float) -> None:
        """Guard the lease of a keeper, which was renewed at this instant of the steady clock or later."""
        if self._is_fenced:
            self._renewed_at[instance] = renewed_at
            self._has_leases.set()

    def renewed(self, instance: str, renewed_at: float) -> None:
        """The keeper has renewed its lease."""
        if instance in self._renewed_at:
            self._renewed_at[instance] = renewed_at

    def forget(self, instance: str) -> None:
        """The keeper is gone."""
        self._renewed_at.pop(instance, None)

    async def follow(self) -> None:
        """End agents for as long as the daemon lives."""
        while True:
            await self._wait()
            now = steady_seconds()
            for instance in [each for each, renewed_at in self._renewed_at.items() if now >= self._ends_at(renewed_at)]:
                self.forget(instance)
                await asyncio.to_thread(self._end, instance)

    async def _wait(self) -> None:
        if not self._renewed_at:
            self._has_leases.clear()
            await self._has_leases.wait()
        first = min(map(self._ends_at, self._renewed_at.values()), default=float("inf"))
        await asyncio.sleep(min(max(first - steady_seconds(), 0), _LOOK_SECONDS))

    def _ends_at(self, renewed_at: float) -> float:
        return renewed_at + self._lease_seconds

    def _end(self, instance: str) -> None:
        """End the agent first, which is quick; then all that it started, and the keeper. A keeper whose agent is gone
        is left to finish: it only has to say how it went.
        """
        record = keepers.read_record(self._folder, instance)
        if record is not None and record.agent_pid is not None and record.agent_started_at is not None:
            moved = keepers.find_start(record) - record.started_at  # if the machine's clock was set
            if not process_identity.is_alive(record.agent_pid, record.agent_started_at + moved):
                return
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(record.agent_pid, signal.SIGKILL)
        log.warning("the lease of a keeper was not renewed, and its agent is ended instance=%s", instance)
        process_tree.end_marked(instance, 0)
