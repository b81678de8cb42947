"""Whether this host claims efforts: not while it is parked, and not while the disk of Ramet's files is nearly full.

The database says whether a host is parked, so that every host can show it and a person can resume it from anywhere. As
long as nothing has failed here, nothing is asked.
"""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from ramet.errors import RametError
from ramet.protocol.work.hosts import HostRow, ListHosts, NoteHostWorks, ParkHost
from ramet.runner.context import RunnerContext

log = logging.getLogger(__name__)

_FRESH_SECONDS = 2.0
"""How long a look counts that found room."""
_LOOK_SECONDS = 1.0
"""How long one claim waits for it. A disk that hangs keeps nothing else from starting."""
_MEGABYTE = 1_000_000


class HostGate:
    """What every claim of this daemon passes. All of it happens on the event loop's thread."""

    def __init__(self, runner: RunnerContext) -> None:
        self._runner = runner
        self._room = DiskRoom((runner.places.home, runner.places.worktrees), runner.settings.work.min_free_mb)
        self._is_doubted = True
        """Whether something failed here since an agent started; not known when the daemon starts."""
        self._lacks_room = False
        self._probe: str | None = None
        """The slot that tries whether agents can start here again."""
        self.closed_by: HostRow | None = None
        """Why nothing may be claimed, when that was last asked."""

    async def admits(self, slot: str) -> bool:
        """Whether a slot may claim an effort now."""
        self.closed_by = None
        lack = await self._room.find_lack()
        if lack is None and not self._is_doubted:
            return True
        row = await self._find()
        if lack is not None:
            self._lacks_room = self._is_doubted = True
            if row is None or row.parked_at is None:
                row = await self._runner.ask(ParkHost(name=self._name, reason=lack))
        elif row is not None and row.parked_at is not None and (self._lacks_room or row.parked_until is None):
            await self.note_works()
            row = None
        self._is_doubted = row is not None
        if row is None or row.state == "counting":
            return True
        if row.state == "probing" and lack is None and self._probe is None:
            self._probe = slot
            return True
        self.closed_by = row
        return False

    def leave(self, slot: str) -> None:
        """The slot claimed nothing, or its attempt is over."""
        if self._probe == slot:
            self._probe = None

    def doubt(self) -> None:
        """An attempt failed before its agent started."""
        self._is_doubted = True

    @property
    def is_doubted(self) -> bool:
        """Whether it is worth while to note that an agent has started."""
        return self._is_doubted

    async def note_works(self) -> None:
        """An agent has begun, or the disk has room again."""
        self._is_doubted = False  # before the question: what fails meanwhile raises new doubts
        try:
            await self._runner.ask(NoteHostWorks(name=self._name))
        except RametError:
            self._is_doubted = True  # the row is still there, and has to be removed later
            raise
        self._lacks_room, self._probe = False, None

    @property
    def _name(self) -> str:
        return self._runner.host_name

    async def _find(self) -> HostRow | None:
        rows = (await self._runner.ask(ListHosts())).items
        return next((row for row in rows if row.name == self._name), None)


class DiskRoom:
    """Whether the disks under some folders have room. They are looked at on a thread of its own, one look at a time: a
    thread that hangs with its disk must not be one that others wait for.
    """

    def __init__(self, folders: Sequence[Path], min_free_mb: int) -> None:
        self._folders = folders
        self._min_free_mb = min_free_mb
        self._lack: str | None = None
        self._looked_at = -_FRESH_SECONDS
        self._looking: asyncio.Future[None] | None = None
        self._is_late = False
        """Whether a claim has waited for the look in vain. The next ones do not wait for it."""

    async def find_lack(self) -> str | None:
        """What is lacking, as far as the disks have answered."""
        is_fresh = self._lack is None and time.monotonic() < self._looked_at + _FRESH_SECONDS
        if not self._min_free_mb or is_fresh:
            return self._lack
        if self._looking is None:
            loop = asyncio.get_running_loop()
            self._looking = loop.create_future()
            threading.Thread(target=self._look, args=(loop, self._looking), name="disk-room", daemon=True).start()
        if not self._is_late:
            _, late = await asyncio.wait((self._looking,), timeout=_LOOK_SECONDS)
            self._is_late = bool(late)
        return self._lack

    def _look(self, loop: asyncio.AbstractEventLoop, looking: "asyncio.Future[None]") -> None:
        lack = next((found for folder in self._folders if (found := self._measure(folder)) is not None), None)
        try:
            loop.call_soon_threadsafe(self._answer, lack, looking)
        except RuntimeError:
            log.debug("the disks answered after the daemon stopped")

    def _answer(self, lack: str | None, looking: "asyncio.Future[None]") -> None:
        self._lack, self._looked_at, self._looking, self._is_late = lack, time.monotonic(), None, False
        looking.set_result(None)

    def _measure(self, folder: Path) -> str | None:
        try:
            found = os.statvfs(folder)
        except OSError:
            return None  # it does not exist yet, or what needs it will say why it cannot be used
        free_mb = found.f_bavail * found.f_frsize // _MEGABYTE
        if free_mb >= self._min_free_mb:
            return None
        return f"{free_mb} MB are free on the disk of {folder}, less than work.min_free_mb ({self._min_free_mb})"
