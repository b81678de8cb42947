"""The files of a SQLite database: its main file and those that SQLite puts beside it."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ramet.config.places import make_private

COMPANIONS = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a database. With another main file they would be replayed into that one."""


def flush(path: Path) -> None:
    """Have a file, or the names in a directory, on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_database(path: Path) -> None:
    """Remove a database with everything beside it."""
    for suffix in (*COMPANIONS, ""):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def create_private(path: Path) -> None:
    """Make the file ours alone before SQLite opens it, also one that was there; a new WAL gets the same mode."""
    make_private(path.parent)
    descriptors = [os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)]
    for suffix in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            descriptors.append(os.open(f"{path}{suffix}", os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC))
    for descriptor in descriptors:
        os.fchmod(descriptor, 0o600)
        os.close(descriptor)


def list_files(path: Path) -> Iterator[Path]:
    """The main file and those beside it that exist."""
    yield from (each for each in (path, *(Path(f"{path}{suffix}") for suffix in COMPANIONS)) if each.exists())
