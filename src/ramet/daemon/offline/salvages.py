"""Salvaging a damaged database, while no daemon runs on it: what can be read becomes a new one, and is checked.

With `into`, the new database is only written to a file. Otherwise it replaces the database in the same steps as a
restored backup. Agents go on: their rows are there, or their reports are refused one by one. What is read of another
file replaces nothing: a restore of the result says what would be lost, and queues nothing that has run since.
"""

from pathlib import Path

from msgspec import Struct

from ramet.clock import Clock
from ramet.config.database_trust import find_number
from ramet.config.settings import Places, Settings
from ramet.daemon.offline.restores import holding, put_aside, require_file
from ramet.errors import FileMissing, InvalidParams
from ramet.faults import Faults
from ramet.model.instant import to_iso
from ramet.protocol.system.backups import name_backup
from ramet.protocol.system.database import CheckFinding
from ramet.store.database.blobs import Codec
from ramet.store.database.check import check_database
from ramet.store.database.open import open_staged
from ramet.store.database.sqlite import staged_file
from ramet.store.database.sqlite.files import COMPANIONS, flush
from ramet.store.database.sqlite.marker import read_marker
from ramet.store.database.sqlite.salvage.salvage import Salvaged, salvage
from ramet.store.database.sqlite.swap import staging_place


class SalvageOrder(Struct, frozen=True, kw_only=True):
    """What to read, and where to write it."""

    source: str | None = None
    """A damaged file (default: the database)."""
    into: str | None = None
    """A new file (default: replace the database)."""


class SalvageReport(Struct, frozen=True, kw_only=True):
    """What a salvage has read, and what is wrong with the result."""

    source: str
    path: str
    """The new database."""
    kept: str | None
    """Where the replaced database is."""
    salvaged: Salvaged
    findings: list[CheckFinding]
    """What a check of the new database finds."""
    more: int
    """How many further problems it finds."""


def run_salvage(settings: Settings, places: Places, clock: Clock, faults: Faults, order: SalvageOrder) -> SalvageReport:
    """Read what can be read; the damaged file stays as it is."""
    database = require_file(places)
    source = database if order.source is None else Path(order.source)
    if order.source is not None and order.into is None:
        raise InvalidParams(
            f"what is read of {source} does not replace the database by itself",
            field="into",
            value=str(source),
            fix="write it to a file with `--into FILE`, then restore that: `ramet db restore FILE`",
        )
    if order.source is not None:
        staged_file.refuse_unusable(source, places.home)
    elif not source.exists():
        raise FileMissing(f"{source} is missing", value=str(source), fix="`ramet db restore latest` restores a backup")
    target = None if order.into is None else _new_file(Path(order.into))
    with holding(places, faults):
        staged_file.require_room(source, (target or database).parent)
        staged = staging_place(target or database)
        salvaged = salvage(source, staged, to_iso(clock.now_ms()))
        findings, more = _complete(settings, places, clock, source, staged, database if target is None else None)
        if target is None:
            kept = put_aside(places, database, name_backup(places.name, clock.now_ms(), "before-salvage"), faults)
        else:
            kept = None
            _name(staged, target)
    return SalvageReport(
        source=str(source),
        path=str(target or database),
        kept=kept,
        salvaged=salvaged,
        findings=findings,
        more=more,
    )


def _complete(
    settings: Settings, places: Places, clock: Clock, source: Path, staged: Path, database: Path | None
) -> tuple[list[CheckFinding], int]:
    """Bring the new file up to date, let its numbers continue those of the damaged one, and check it."""
    marker = read_marker(places.marker)
    numbers = staged_file.find_numbers(source, None if marker is None else marker.numbers)
    number = None if database is None else find_number(places.home, database)
    store = open_staged(settings.database, places, staged, clock=clock, number=number)
    try:
        db = store.connect()
        db.begin()
        staged_file.continue_numbers(db.database, numbers, now_ms=clock.now_ms(), data='{"salvaged": true}')
        db.commit()
        report = check_database(store, Codec())
    finally:
        store.close()
        staged.with_name(f"{staged.name}.lock").unlink(missing_ok=True)
    return report.findings, report.more


def _new_file(path: Path) -> Path:
    if not path.is_absolute() or path.exists() or path.is_symlink():
        raise InvalidParams(
            f"{path} already exists" if path.is_absolute() else "the path is not absolute",
            field="into",
            value=str(path),
            fix="name a file that does not exist yet",
        )
    return path


def _name(staged: Path, target: Path) -> None:
    """Give the finished file its name."""
    flush(staged)
    staged.rename(target)
    for suffix in COMPANIONS:
        Path(f"{staged}{suffix}").unlink(missing_ok=True)
    flush(target.parent)
