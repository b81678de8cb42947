"""The write-ahead log (WAL) of a SQLite file: how large it is, and who keeps it from being copied back.

SQLite reuses the log from its beginning once all of it has been copied into the database and nobody reads from it. A
reader that stays in one transaction prevents that, so that the log grows until the reader is gone.
"""

import os
from contextlib import suppress
from pathlib import Path

from ramet.protocol.system.database import LogState

LIMIT_BYTES = 64 << 20
"""What the log is cut to when it is reused. It reaches a quarter of this between two checkpoints."""
_READ_LOCKS = range(123, 128)
"""The bytes of the shared-memory file that readers lock, from the file format of SQLite."""


def measure(path: Path) -> LogState:
    """The size of the log beside a database, and the processes that read from it if it is too large."""
    size = _size(Path(f"{path}-wal"))
    readers = _list_readers(Path(f"{path}-shm")) if size > LIMIT_BYTES else []
    return LogState(bytes=size, limit_bytes=LIMIT_BYTES, readers=readers)


def _size(log: Path) -> int:
    with suppress(FileNotFoundError):
        return log.stat().st_size
    return 0


def _list_readers(shared: Path) -> list[str]:
    """The processes that are in a read transaction, on systems that list the locks of files."""
    try:
        inode = shared.stat().st_ino
        lines = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return []
    found = {int(fields[4]) for fields in map(str.split, lines) if _is_read_lock(fields, inode)}
    return [f"{_name(pid)} (pid {pid})" for pid in sorted(found)]


def _is_read_lock(fields: list[str], inode: int) -> bool:
    """Whether a line of /proc/locks is about a reader. Its fields: number, POSIX, ADVISORY, READ, pid, device:inode,
    first byte, last byte.
    """
    with suppress(ValueError, IndexError):
        return fields[3] == "READ" and int(fields[5].rpartition(":")[2]) == inode and int(fields[6]) in _READ_LOCKS
    return False


def _name(pid: int) -> str:
    if pid == os.getpid():
        return "this process"
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return "a process"
