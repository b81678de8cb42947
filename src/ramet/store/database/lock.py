"""The database's lock: whoever holds it, a daemon or a program that called `ramet.open`, is the only one to write.

The operating system lets go of it when its holder dies, however it dies; the pid inside only helps people.
"""

import fcntl
import os
from pathlib import Path

from ramet.config.places import make_private
from ramet.errors import DatabaseHeld


class DatabaseLock:
    """An exclusive lock on a file beside the database."""

    def __init__(self, path: Path) -> None:
        make_private(path.parent)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._file, 64, 0).decode(errors="replace").strip() or "unknown"
            os.close(self._file)
            raise DatabaseHeld(
                f"process {holder} holds the database's lock {path}", field="database.path", value=holder
            ) from error
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let somebody else have the database. The file stays: removing it would let two hold it at once."""
        os.close(self._file)
