"""Backups that the daemon makes by itself: how they are named, and the request that makes one and removes old ones.

A name tells which database the file is of, when it was made and why, so that a list needs no file to be opened.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from ramet.errors import InvalidParams, StorageFailed
from ramet.model.instant import to_iso
from ramet.protocol.fields import Path as PathText
from ramet.protocol.operation import Operation, Request

DAILY = "daily"
"""The label of what the daemon makes, and the only one that it removes again."""

REPLACED = ("before-restore", "before-salvage", "before-reset")
"""The labels of files that are no backups to return to: each was replaced because something was wrong with it."""
LEFT_FREE_BYTES = 200_000_000
"""What a backup leaves free on its disk, which the database needs itself."""

_NAME = re.compile(
    r"(?P<database>ramet(?:-[0-9a-f]{12})?)-(?P<stamp>\d{8}T\d{6}\.?\d{3,6}Z)(?:-(?P<label>[a-z0-9-]+))?\.db", re.ASCII
)


class NamedBackup(NamedTuple):
    """A file of the backups directory, as its name describes it."""

    path: Path
    database: str
    """The name of the database's files in the home: `ramet`, or one with a hash of its path."""
    made_at: datetime
    label: str | None
    """Why it was made; None for one that a person asked for."""


def name_backup(database: str, at_ms: int, label: str) -> str:
    """The file name of a backup."""
    stamp = to_iso(at_ms).translate({ord(letter): None for letter in "-:."})
    return f"{database}-{stamp}-{label}.db"


def read_name(path: Path) -> NamedBackup | None:
    """What the name of a backup says; None if it is no name of ours."""
    found = _NAME.fullmatch(path.name)
    if found is None:
        return None
    digits = found["stamp"].translate({ord(letter): None for letter in ".TZ"})
    try:
        made_at = datetime.strptime(digits.ljust(20, "0"), "%Y%m%d%H%M%S%f").replace(tzinfo=UTC)
    except ValueError:
        return None
    return NamedBackup(path, found["database"], made_at, found["label"])


def find_backups(folder: Path) -> list[NamedBackup]:
    """The backups in a directory, the newest first. Only files count, and no links."""
    return sorted(_scan(folder), key=lambda each: (each.made_at, each.path.name), reverse=True)


def find_daily(folder: Path, database: str) -> list[NamedBackup]:
    """Those that the daemon of one database made, the newest first. Each was verified before it got its name."""
    return [each for each in find_backups(folder) if each.database == database and each.label == DAILY]


def _scan(folder: Path) -> Iterator[NamedBackup]:
    try:
        paths = sorted(folder.iterdir())
    except OSError:
        return
    for path in paths:
        if (named := read_name(path)) is not None and path.is_file() and not path.is_symlink():
            yield named


class DailyBackup(Struct, frozen=True, kw_only=True):
    """The newest backup, whether it was made just now, and the older ones that were removed."""

    path: str
    is_new: bool
    """False if nothing has changed since the one before, which is then as good as a new one."""
    removed: list[str]


class BackUpDaily(Request[DailyBackup], frozen=True, kw_only=True):
    """Back up the database if it has changed since the last time, and remove backups that are too old."""

    op = Operation(
        "db.backup_daily", errors=(InvalidParams, StorageFailed), host="store", audience="internal", is_long=True
    )

    path: PathText
    """The new file. Its name says which backups belong together."""
    at_ms: Annotated[int, Meta(ge=0)]
    keep_days: Annotated[int, Meta(ge=1)] = 7
    keep_weeks: Annotated[int, Meta(ge=0)] = 4
