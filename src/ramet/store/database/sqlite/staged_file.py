"""Making the file that is to take the place of a database: a copy of a backup, whose numbers continue the old ones.

Numbers of rows are known outside: `e12` names an effort, a branch and a worktree, and a program that follows events
remembers the last one. So a restored database gives out no number again that the replaced one has given.
"""

import os
import shutil
import stat
from pathlib import Path
from typing import Any, NamedTuple

import apsw
from msgspec import Struct

from ramet.config.database_trust import find_project, require_trusted
from ramet.errors import BackupUnusable, StorageFailed, StoreError
from ramet.model.instant import to_iso
from ramet.protocol.system.backups import LEFT_FREE_BYTES
from ramet.store.database.sqlite.backup_file import Identity, identify, open_file, read_numbers, verify
from ramet.store.database.sqlite.connection import SqliteConnection
from ramet.store.database.sqlite.files import create_private, remove_database

_MARGIN = 1000
"""How many numbers are left out if the replaced database cannot be read: as many may have been given since its marker
was written.
"""


class Contents(Struct, frozen=True, kw_only=True):
    """How much a database has, and up to when."""

    messages: int
    efforts: int
    sessions: int
    last_event: int
    last_event_at: str | None


class EffortState(NamedTuple):
    """How far an effort has come."""

    lifecycle: str
    generation: int


def refuse_unusable(backup: Path, home: Path) -> None:
    """Raise if a path names no file that may become the database: one that can be read, that is the user's own, and
    that no project has brought with it, unless the user trusts it.
    """
    try:
        status = backup.lstat()
    except OSError as error:
        raise _unusable(backup, f"cannot be read: {error.strerror}") from error
    if stat.S_ISLNK(status.st_mode):
        raise _unusable(backup, f"is a link: name the file itself, {backup.resolve()}")
    if not stat.S_ISREG(status.st_mode):
        raise _unusable(backup, "is not a file")
    if status.st_uid != os.getuid():
        raise _unusable(backup, f"belongs to user {status.st_uid}: copy it, if you trust it")
    if not os.access(backup, os.R_OK):
        raise _unusable(backup, f"cannot be read: its mode is {stat.S_IMODE(status.st_mode):04o}")
    if find_project(backup.resolve(), home) is not None:
        require_trusted(home, backup.resolve())


def describe(path: Path) -> Contents:
    """What is in a database of ours."""
    with open_file(path) as reader:
        identity = identify(reader)
        ((messages, efforts, sessions),) = reader.database.execute(
            "SELECT (SELECT count(*) FROM messages), (SELECT count(*) FROM efforts), (SELECT count(*) FROM sessions)"
        )
        newest = _last_event_at(reader.database) if identity.last_event else None
    return Contents(
        messages=messages,
        efforts=efforts,
        sessions=sessions,
        last_event=identity.last_event,
        last_event_at=newest,
    )


def try_to_describe(path: Path) -> Contents | None:
    """The same; None if it cannot be read."""
    try:
        return describe(path)
    except StoreError:
        return None


def copy_backup(backup: Path, staged: Path) -> Identity:
    """Copy a backup to where it becomes the database, and verify the copy: what is verified is what is used."""
    remove_database(staged)
    require_room(backup, staged.parent)
    create_private(staged)
    for suffix in ("", "-wal"):  # a backup that was copied with its WAL has its newest rows there
        source = Path(f"{backup}{suffix}")
        if source.is_file() and not source.is_symlink():
            shutil.copyfile(source, f"{staged}{suffix}", follow_symlinks=False)
    try:
        return verify(staged)
    except StoreError as error:
        remove_database(staged)
        raise type(error)(
            error.message.replace(str(staged), str(backup)),
            field="path",
            value=str(backup),
            fix="`ramet db backups` lists the backups; a damaged one: `ramet db salvage FILE --into NEW`",
        ) from error


def read_efforts(path: Path) -> dict[int, EffortState] | None:
    """How far each effort of a database has come; None if it cannot be read."""
    try:
        with open_file(path) as reader:
            rows = reader.database.execute("SELECT id, lifecycle, lease_generation FROM efforts").fetchall()
    except StoreError:
        return None
    return {int(row[0]): EffortState(str(row[1]), int(row[2])) for row in rows}  # type: ignore[arg-type]


def find_numbers(database: Path, marked: dict[str, int] | None) -> dict[str, int]:
    """The highest number that each table of the replaced database has given to a row, as far as it is known."""
    try:
        with open_file(database) as reader:
            return read_numbers(reader.database)
    except StoreError:
        return {table: number + _MARGIN for table, number in (marked or {}).items()}


def continue_numbers(database: apsw.Connection, numbers: dict[str, int], *, now_ms: int, data: str) -> None:
    """Let the rows that follow have higher numbers. The first of them is the event that says what has happened."""
    own = read_numbers(database)
    for table, number in numbers.items():
        if table != "events" and number > own.get(table, 0):
            database.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
            database.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, number))
    event = max(numbers.get("events", 0), own["events"]) + 1
    database.execute(
        "INSERT INTO events (id, kind, at_ms, data) VALUES (?, 'database.restored', ?, ?)", (event, now_ms, data)
    )


def _last_event_at(database: apsw.Connection) -> str | None:
    rows: list[Any] = database.execute("SELECT at_ms FROM events ORDER BY id DESC LIMIT 1").fetchall()
    return to_iso(rows[0][0]) if rows else None


def require_room(backup: Path, folder: Path) -> None:
    """Raise if a copy of a file would fill the disk."""
    size, free = backup.stat().st_size, shutil.disk_usage(folder).free
    if free < size + LEFT_FREE_BYTES:
        raise StorageFailed(
            f"{backup} has {size >> 20:,} MiB, and {folder} has only {free >> 20:,} MiB free",
            field="path",
            value=str(backup),
            fix="free disk space; nothing was changed",
        )


def _unusable(backup: Path, problem: str) -> BackupUnusable:
    return BackupUnusable(f"{backup} {problem}", field="path", value=str(backup))


def unfinished_efforts(connection: SqliteConnection) -> list[tuple[int, EffortState, bool]]:
    """What a copy says is queued or runs, and whether a worker has it."""
    rows = connection.database.execute(
        "SELECT id, lifecycle, lease_generation, lease_owner IS NOT NULL FROM efforts WHERE lifecycle <> 'finished' "
        "ORDER BY id"
    ).fetchall()
    return [(int(row[0]), EffortState(str(row[1]), int(row[2])), bool(row[3])) for row in rows]  # type: ignore[arg-type]
