"""A disk that fails when it is told to, under a real SQLite: every read, write and flush comes through here."""

import itertools
from pathlib import Path
from typing import Any, Literal

import apsw

from ramet.clock import SystemClock
from ramet.faults import Faults
from ramet.store.database.sqlite.store import SqliteStore

Fault = Literal["short write", "io error", "disk full", "sync error", "truncate error", "read error"]

FAULTS: tuple[Fault, ...] = ("short write", "io error", "disk full", "sync error")
"""What can go wrong with what is written."""

_names = itertools.count()


class FaultyDisk(apsw.VFS):
    """The usual disk, until it is armed and the countdown is over; then it fails, once or until it is mended."""

    def __init__(self) -> None:
        self.name = f"faulty-disk-{next(_names)}"
        self.failures = 0
        self._fault: Fault | None = None
        self._countdown = 0
        self._is_lasting = False
        super().__init__(self.name, "")

    def arm(self, fault: Fault, countdown: int, *, lasting: bool = False) -> None:
        """Fail at the `countdown`-th access of that kind from now on; if the fault is lasting, at all after it too."""
        self._fault, self._countdown, self._is_lasting = fault, countdown, lasting
        self.failures = 0

    def mend(self) -> None:
        """Work as usual again."""
        self._fault = None

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> "FaultyFile":  # noqa: N802
        return FaultyFile(self, name, flags)

    def excepthook(self, *_: Any) -> bool:
        """What SQLite does not pass on is of no interest."""
        return True

    def access(self, kind: Literal["read", "write", "sync", "truncate"]) -> Fault | None:
        """Count one access; the fault that it is to meet."""
        if self._fault is None or kind != _kind(self._fault):
            return None
        self._countdown -= 1
        if self._countdown > 0 or (self._countdown < 0 and not self._is_lasting):
            return None
        self.failures += 1
        return self._fault


def _kind(fault: Fault) -> str:
    return {"sync error": "sync", "truncate error": "truncate", "read error": "read"}.get(fault, "write")


class FaultyFile(apsw.VFSFile):
    """A file on that disk."""

    def __init__(self, disk: FaultyDisk, name: apsw.URIFilename | str | None, flags: list[int]) -> None:
        self._disk = disk
        super().__init__("", name, flags)

    def excepthook(self, *_: Any) -> bool:
        """What SQLite does not pass on is of no interest."""
        return True

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        match self._disk.access("write"):
            case "short write":
                super().xWrite(data[: len(data) // 2], offset)
                raise _failure(apsw.FullError, apsw.SQLITE_FULL)
            case "disk full":
                raise _failure(apsw.FullError, apsw.SQLITE_FULL)
            case "io error":
                raise _failure(apsw.IOError, apsw.SQLITE_IOERR_WRITE)
        super().xWrite(data, offset)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        if self._disk.access("read"):
            raise _failure(apsw.IOError, apsw.SQLITE_IOERR_READ)
        return super().xRead(amount, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        if self._disk.access("sync"):
            raise _failure(apsw.IOError, apsw.SQLITE_IOERR_FSYNC)
        super().xSync(flags)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        if self._disk.access("truncate"):
            raise _failure(apsw.IOError, apsw.SQLITE_IOERR_TRUNCATE)
        super().xTruncate(size)


def _failure(kind: type[apsw.Error], code: int) -> apsw.Error:
    error = kind("the disk failed, as it was told to")
    error.extendedresult = code  # type: ignore[attr-defined]
    return error


def open_on(
    disk: apsw.VFS | None, path: Path, durability: Literal["full", "process"] = "full", faults: Faults | None = None
) -> SqliteStore:
    """The store in a file on that disk, or on the usual one."""
    return SqliteStore(
        path,
        lock_file=path.with_name("lock"),
        backups=path.with_name("backups"),
        durability=durability,
        clock=SystemClock(),
        faults=faults or Faults(),
        vfs=getattr(disk, "name", None),
    )
