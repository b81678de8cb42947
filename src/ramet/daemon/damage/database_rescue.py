"""Rescue: what the daemon still has of a database whose files are gone, as a file of its own.

The writer's connection still has the files that it opened, with all that was ever acknowledged, until it closes them.
"""

import logging
import os
from pathlib import Path

from ramet.config.places import make_private
from ramet.daemon.damage.database_guard import DatabaseGuard
from ramet.store.database.sqlite.store import SqliteStore

log = logging.getLogger(__name__)


class Rescuer:
    """Writes the rescue file, once: beside the database, also if its folder was moved, or else among the backups."""

    def __init__(self, store: SqliteStore, guard: DatabaseGuard) -> None:
        self._store = store
        self._guard = guard
        self._folder = _open_folder(store.path.parent)
        self._is_done = False

    def is_due(self) -> bool:
        """Whether the files were lost and nothing is rescued yet."""
        ban = self._guard.ban
        return ban is not None and ban.state == "replaced" and not self._is_done

    def rescue(self) -> None:
        """Try each folder in turn. Failing ends nothing: then the log says why."""
        self._is_done = True
        ban = self._guard.ban
        stamp = "".join(letter for letter in (ban.since if ban else "") if letter.isalnum())
        for folder in self._folders():
            target = folder / f"{self._store.path.name}.rescued-{stamp}"
            try:
                make_private(folder)
                self._store.rescue(target)
            except Exception as error:  # noqa: BLE001 - the next folder may have room
                log.error("the database could not be rescued path=%s: %s", target, error)  # noqa: TRY400
                continue
            self._guard.rescued(target)
            return
        log.error("nothing could be rescued: what was acknowledged is lost when this daemon stops pid=%d", os.getpid())

    def close(self) -> None:
        """Let go of the folder."""
        if self._folder is not None:
            os.close(self._folder)

    def _folders(self) -> list[Path]:
        """Where a rescue file may be. A home that was deleted is not made again."""
        beside = self._store.path.parent
        if self._folder is not None and not _is_same(self._folder, beside):
            beside = Path(f"/proc/self/fd/{self._folder}").readlink()
        return [beside] * beside.is_dir() + [self._store.backups] * self._store.backups.parent.is_dir()


def _open_folder(folder: Path) -> int | None:
    """A descriptor by which the folder is found if it is moved, on systems that tell."""
    if not Path("/proc/self/fd").is_dir():
        return None
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _is_same(descriptor: int, folder: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), folder.stat())
    except OSError:
        return False
