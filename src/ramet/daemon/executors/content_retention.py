"""Retention of contents: purges that were begun are continued, and what is older than its owner keeps it is purged.

Each step is one short transaction, with a rest after it, so that no request waits for a purge. A daemon that is killed
in between leaves steps that the next one takes. On a shared server every daemon does this: a step that another one has
taken changes nothing.
"""

import asyncio
import logging

from ramet.config.settings import RetentionSettings
from ramet.errors import DaemonStopping
from ramet.protocol.memory.archives import ApplyRetention
from ramet.protocol.memory.purge_steps import purge_steps
from ramet.protocol.operation import AsyncAsk

log = logging.getLogger(__name__)

_FIRST_SECONDS = 30.0
_INTERVAL_SECONDS = 3600.0
_REST_SECONDS = 0.05


class ContentRetention:
    """Removes texts in the background."""

    def __init__(self, ask: AsyncAsk, settings: RetentionSettings, first_seconds: float = _FIRST_SECONDS) -> None:
        self._ask = ask
        self._settings = settings
        self._first_seconds = first_seconds

    async def follow(self) -> None:
        """Look now and then, until it is cancelled."""
        await asyncio.sleep(self._first_seconds)
        while True:
            try:
                await self.look()
            except DaemonStopping:
                pass
            except Exception as error:
                log.warning("old texts could not be removed error=%s", type(error).__name__, exc_info=error)
            await asyncio.sleep(_INTERVAL_SECONDS)

    async def look(self) -> None:
        """Take every step that is due."""
        await self._finish_purges()
        sessions_days, runs_days = self._settings.sessions_days or None, self._settings.runs_days or None
        while sessions_days or runs_days:
            done = await self._ask(ApplyRetention(sessions_days=sessions_days, runs_days=runs_days))
            if not done.purged and not done.purged_runs:
                return
            await self._finish_purges()

    async def _finish_purges(self) -> None:
        running = purge_steps()
        request = next(running)
        while True:
            reply = await self._ask(request)
            await asyncio.sleep(_REST_SECONDS)
            try:
                request = running.send(reply)
            except StopIteration:
                return
