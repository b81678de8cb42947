"""What `ramet doctor` says about the backups of the database."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from ramet.cli.commands.look.backup_age import describe_last, find_last
from ramet.cli.commands.system.health.database_findings import Found
from ramet.cli.invocation import Invocation
from ramet.protocol.system.backups import LEFT_FREE_BYTES

_LATE = 2
"""How many times the interval a backup may be old: the machine may have been off."""


def find(invocation: Invocation) -> Iterator[Found]:
    """Whether there is a backup that is new enough."""
    settings = invocation.configuration.settings
    if settings.database.type == "postgres":
        fix = "its administrator backs it up, with pg_dump or as a replica; `ramet db backup` writes a copy as a file"
        yield Found("ok", "the server is not backed up by Ramet", fix)
        return
    if settings.backup.every_hours == 0:
        yield Found("warn", "no backups are made: backup.every_hours is 0", "ramet config set backup.every_hours 24")
        return
    yield from _look_for_room(invocation)
    last = find_last(invocation.places)
    if last is None:
        yield Found("ok", "none yet: the daemon makes the first one within minutes")
    elif datetime.now(UTC) - last > timedelta(hours=_LATE * settings.backup.every_hours):
        fix = "`ramet db backup` makes one now; `ramet daemon logs` says why the daemon made none"
        yield Found("warn", f"the last backup was made {describe_last(last)}", fix)
    else:
        yield Found("ok", f"the last backup was made {describe_last(last)}")


def _look_for_room(invocation: Invocation) -> Iterator[Found]:
    """Whether the next backup fits on the disk with room to spare; otherwise the daemon makes none."""
    places = invocation.places
    folder = next(each for each in (places.backups, *places.backups.parents) if each.exists())
    size = places.database.stat().st_size if places.database is not None and places.database.exists() else 0
    free = shutil.disk_usage(folder).free
    if free < size + LEFT_FREE_BYTES:
        detail = f"no room for a backup of {size >> 20:,} MiB: {folder} has {free >> 20:,} MiB free"
        yield Found("warn", detail, "free disk space, or write one to another disk: `ramet db backup FILE`")
