"""The marker: what a home remembers of its database, so that another file in its place is noticed.

It is a small file of its own. It is written when a database is opened, when it is closed and after a backup, but never
with a commit: it may say less than the database, and never more. So a database that has fewer events than its marker
has lost some.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from ramet.config.places import make_private
from ramet.errors import DatabaseDamaged, DatabaseForeign, DatabaseMismatch, StoreError
from ramet.protocol.system.backups import REPLACED, find_backups
from ramet.store.database.sqlite.backup_file import Identity, identify, open_file, read_numbers, try_to_identify
from ramet.store.database.sqlite.files import flush

_VERSION = 1


class Marker(Struct, frozen=True, kw_only=True):
    """What was seen of a database."""

    identity: Identity
    numbers: dict[str, int]
    """The highest number that each table has given to a row. A restored database gives higher ones."""
    noted_at: str
    version: int = _VERSION


def read_marker(path: Path) -> Marker | None:
    """What is remembered; None if there is no marker, or one that another version has written."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Marker)
    except (OSError, msgspec.DecodeError):
        return None


def write_marker(path: Path, database: Path, noted_at: str) -> None:
    """Remember a database as it is now. It is on the disk before its marker is.

    SQLite flushes the database itself whenever it copies the WAL back. Nobody else may open the file here: to close it
    would end the locks of this process, without which another program deletes the WAL when it closes the database.
    """
    log = Path(f"{database}-wal")
    if log.exists():
        flush(log)
    with open_file(database) as reader:
        marker = Marker(identity=identify(reader), numbers=read_numbers(reader.database), noted_at=noted_at)
    make_private(path.parent)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(marker) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def refuse_another(database: Path, marker: Path, backups: Path) -> None:
    """Raise if the file is missing, empty, older or another database than the one that the marker remembers. A file
    that cannot be read is no matter of the marker: whoever opens it says what is wrong.
    """
    known = read_marker(marker)
    problem = None if known is None else _find_problem(database, known)
    if known is not None and problem is not None:
        raise DatabaseMismatch(
            f"{database} {problem}",
            field="database.path",
            value=str(database),
            fix=f"{_name_backup(known, backups)}. `ramet db accept` takes the file as it is",
        )


@contextmanager
def naming_ways_out(marker: Path, backups: Path) -> Iterator[None]:
    """If a known database cannot be read, say how to get it back."""
    try:
        yield
    except (DatabaseDamaged, DatabaseForeign) as error:
        known = read_marker(marker) if error.fix == error.hint else None
        if known is not None:
            error.fix = f"{_name_backup(known, backups)}; `ramet db salvage` reads what is left of the file"
        raise


def _name_backup(known: Marker, backups: Path) -> str:
    """What there is to return to."""
    for each in find_backups(backups):
        found = None if each.label in REPLACED else try_to_identify(each.path)
        if found is not None and found.origin == known.identity.origin:
            return f"restore the backup of {each.made_at:%Y-%m-%d %H:%M} UTC: `ramet db restore latest`"
    return "there is no backup of this database: put the file back if you have it"


def _find_problem(database: Path, known: Marker) -> str | None:
    had = f"it had {known.identity.last_event:,} events on {known.noted_at[:16].replace('T', ' ')} UTC"
    if not database.exists():
        return f"is missing: {had}"
    if database.stat().st_size == 0:  # also beside a WAL, which SQLite would delete as soon as it opened the file
        return f"is empty: {had}"
    try:
        with open_file(database) as reader:
            found = identify(reader)
    except StoreError:
        return None
    if None not in (found.origin, known.identity.origin) and found.origin != known.identity.origin:
        return f"is another database than the one that was here: {had}"
    if found.last_event < known.identity.last_event:
        return f"is older than the database that was here: it has {found.last_event:,} events, and {had}"
    return None
