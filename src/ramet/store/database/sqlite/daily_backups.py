"""The backups that the daemon makes by itself: one if something has changed, and no more than are to be kept.

A backup gets its name only after it was verified. So each of these files was good when it was made, and an old one is
removed only after a newer one has turned out well: a damaged database never pushes out the backups of a good one.
"""

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ramet.config.places import make_private
from ramet.errors import InvalidParams, StorageFailed
from ramet.protocol.system.backups import (
    DAILY,
    LEFT_FREE_BYTES,
    BackUpDaily,
    DailyBackup,
    NamedBackup,
    find_daily,
    read_name,
)
from ramet.store.database.sqlite.backup_file import Identity, identify, open_file, try_to_identify
from ramet.store.database.sqlite.store import SqliteReadableStore

_HOURS = 24


def back_up_daily(store: SqliteReadableStore, request: BackUpDaily) -> DailyBackup:
    """Make a backup unless the newest one says the same, then remove those that are too old."""
    target = Path(request.path)
    named = read_name(target)
    if named is None or named.label != DAILY or not target.is_absolute():
        raise InvalidParams(
            "the path is not the name of a daily backup",
            field="path",
            value=request.path,
            fix="name another file: `ramet db backup FILE`",
        )
    make_private(target.parent)
    _remove_leftovers(target.parent, named.database)
    earlier = find_daily(target.parent, named.database)
    now = _identify(store.path)
    is_new = not earlier or try_to_identify(earlier[0].path) != now
    newest = target if is_new else earlier[0].path
    if is_new:
        _require_room(store.path, target.parent)
        store.back_up(target)
    # The time of the file says until when it is as good as a new one.
    os.utime(newest, ns=(request.at_ms * 1_000_000,) * 2)
    found = find_daily(target.parent, named.database)
    removed = _remove(choose_old(found, request.keep_days, request.keep_weeks), now)
    return DailyBackup(path=str(newest), is_new=is_new, removed=removed)


def choose_old(newest_first: list[NamedBackup], keep_days: int, keep_weeks: int) -> list[NamedBackup]:
    """What is not to be kept. Kept are all backups of the last 24 hours before the newest one, the last of each of the
    newest days, and the last of each of the newest weeks. Days and weeks without a backup do not count, so a machine
    that was off for a month keeps what it has.
    """
    if not newest_first:
        return []
    newest = newest_first[0].made_at
    recent = {each.path for each in newest_first if (newest - each.made_at).total_seconds() <= _HOURS * 3600}
    days, weeks = dict[object, Path](), dict[object, Path]()
    for each in newest_first:
        days.setdefault(each.made_at.date(), each.path)
        weeks.setdefault(each.made_at.isocalendar()[:2], each.path)
    kept = recent | set(list(days.values())[:keep_days]) | set(list(weeks.values())[:keep_weeks])
    return [each for each in newest_first if each.path not in kept]


def _remove(old: Iterable[NamedBackup], now: Identity) -> list[str]:
    """Remove backups of this very database. Another one that was once in its place may exist nowhere else."""
    removed = []
    for each in old:
        found = try_to_identify(each.path)
        if found is not None and found.origin == now.origin:
            with suppress(OSError):
                each.path.unlink()
                removed.append(str(each.path))
    return removed


def _remove_leftovers(folder: Path, database: str) -> None:
    """Remove what a daemon left that was killed while it wrote a backup. Nobody else writes such files."""
    for path in folder.glob(f"{database}-*-{DAILY}.db.partial*"):
        named = read_name(path.with_name(path.name.partition(".partial")[0]))
        if named is not None and named.database == database:
            path.unlink(missing_ok=True)


def _require_room(database: Path, folder: Path) -> None:
    size = sum(path.stat().st_size for path in (database, Path(f"{database}-wal")) if path.exists())
    free = shutil.disk_usage(folder).free
    if free < size + LEFT_FREE_BYTES:
        raise StorageFailed(
            f"no backup was made: it needs {size >> 20:,} MiB and leaves {LEFT_FREE_BYTES >> 20:,} MiB free, but "
            f"{folder} has only {free >> 20:,} MiB",
            field="backup.every_hours",
            fix="free disk space; `ramet db backup FILE` makes a backup on another disk",
        )


def _identify(path: Path) -> Identity:
    with open_file(path) as reader:
        return identify(reader)
