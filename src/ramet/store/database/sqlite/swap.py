"""Putting another file in the place of a database, so that a crash at any instant leaves the old one or the new one.

The new file is complete and lies beside the database. Then a decision is written, in one rename. From there on the swap
is only carried on: whoever opens the database next does what is left of it. The database that is replaced is moved
aside with its WAL, in which the newest of it may be.
"""

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from ramet.config.places import make_private
from ramet.faults import Faults
from ramet.store.database.sqlite.files import COMPANIONS, flush


class Decision(Struct, frozen=True, kw_only=True):
    """A swap that is to be carried out. It lies in the home, because it says which files are moved."""

    kept: str | None
    """The new name of the replaced database; None if there is none."""


def staging_place(database: Path) -> Path:
    """Where the new file is made: beside the database, because only there it can be renamed."""
    return database.with_name(f"{database.name}.restoring")


def put_in_place(database: Path, decision: Decision, file: Path, marker: Path, faults: Faults) -> None:
    """Replace the database by what is in its staging place. To be called with its lock."""
    flush(staging_place(database))
    flush(database.parent)
    make_private(file.parent)
    faults.reach("during_restore")
    fresh = file.with_name(f"{file.name}.{os.getpid()}")
    fresh.write_bytes(msgspec.json.encode(decision))
    flush(fresh)
    fresh.replace(file)
    flush(file.parent)
    faults.reach("during_restore")
    carry_on(database, file, marker, faults)


def carry_on(database: Path, file: Path, marker: Path, faults: Faults) -> None:
    """Do what is left of a swap that was decided. Each step can be repeated, and none is done twice."""
    try:
        decision = msgspec.json.decode(file.read_bytes(), type=Decision)
    except FileNotFoundError:
        return
    staged = staging_place(database)
    if staged.exists():  # otherwise it has been renamed, and only the decision is left
        # First what would speak against the new file: the marker of the old one, which has more events.
        marker.unlink(missing_ok=True)
        faults.reach("during_restore")
        _move_aside(database, None if decision.kept is None else Path(decision.kept), faults)
        staged.rename(database)
        flush(database.parent)
        faults.reach("during_restore")
    file.unlink(missing_ok=True)


def _move_aside(database: Path, kept: Path | None, faults: Faults) -> None:
    """The WAL first: beside the new file it would be taken for that one's. The shared memory is only an index of it."""
    for suffix in (*COMPANIONS, ""):
        old = Path(f"{database}{suffix}")
        if old.exists():
            if kept is None or suffix == "-shm" or (suffix and not old.stat().st_size):
                old.unlink()
            else:
                old.rename(f"{kept}{suffix}")
            faults.reach("during_restore")
    for folder in {database.parent, *(() if kept is None else (kept.parent,))}:
        flush(folder)
