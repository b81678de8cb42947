"""Backups of a SQLite database at regular times, made in a reader beside the requests.

What is due follows from the files: a backup that is older than `backup.every_hours` is followed by another one. So
nothing has to be remembered, and a daemon that was killed in the middle starts over.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path

from ramet.clock import Clock
from ramet.config.settings import BackupSettings
from ramet.errors import DaemonStopping, RametError
from ramet.protocol.operation import AsyncAsk
from ramet.protocol.system.backups import DAILY, BackUpDaily, find_daily, name_backup

log = logging.getLogger(__name__)

_FIRST_SECONDS = 60.0
_LOOK_SECONDS = 600.0
_RETRY_SECONDS = 3600.0
"""How long the next try waits after a backup that failed: it reads the whole database."""
_HOUR_SECONDS = 3600


class DailyBackups:
    """Makes the backups of one database."""

    def __init__(
        self,
        ask: AsyncAsk,
        settings: BackupSettings,
        folder: Path,
        database: str,
        clock: Clock,
        remember: Callable[[], None] = lambda: None,
        is_damaged: Callable[[], bool] = lambda: False,
    ) -> None:
        """`database` is the name of the database's files, which its backups share. `remember` notes how far the
        database has come. While the database `is_damaged` none is made, because a copy of the damage would in time
        take the place of the backups that are whole.
        """
        self._is_damaged = is_damaged
        self._remember = remember
        self._ask = ask
        self._settings = settings
        self._folder = folder
        self._database = database
        self._clock = clock
        self._retry_at = 0.0

    async def follow(self) -> None:
        """Look now and then, until it is cancelled."""
        if self._settings.every_hours == 0:
            return
        await asyncio.sleep(_FIRST_SECONDS)
        while True:
            await self.look()
            await asyncio.sleep(_LOOK_SECONDS)

    async def look(self) -> None:
        """Make a backup if one is due. One that fails is logged and tried again later."""
        try:
            if self._is_damaged() or time.monotonic() < self._retry_at:
                return
            if await asyncio.to_thread(self._is_due):
                await self._back_up()
        except DaemonStopping:
            pass
        except Exception as error:
            self._retry_at = time.monotonic() + _RETRY_SECONDS
            reason = error.message if isinstance(error, RametError) else type(error).__name__
            log.warning("no backup was made: %s", reason, exc_info=None if isinstance(error, RametError) else error)

    def _is_due(self) -> bool:
        """Whether the newest backup is too old. One from the future says that the clock was wrong, then or now."""
        newest = next(iter(find_daily(self._folder, self._database)), None)
        if newest is None:
            return True
        age_seconds = self._clock.now_ms() / 1000 - newest.path.stat().st_mtime
        return not 0 <= age_seconds < self._settings.every_hours * _HOUR_SECONDS

    async def _back_up(self) -> None:
        now_ms = self._clock.now_ms()
        done = await self._ask(
            BackUpDaily(
                path=str(self._folder / name_backup(self._database, now_ms, DAILY)),
                at_ms=now_ms,
                keep_days=self._settings.keep_days,
                keep_weeks=self._settings.keep_weeks,
            )
        )
        await asyncio.to_thread(self._remember)
        if done.is_new:
            log.info("backed up the database path=%s removed=%d", done.path, len(done.removed))
