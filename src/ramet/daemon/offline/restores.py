"""Restoring a database from a backup, while no daemon runs on it.

The copy that becomes the database is finished first: verified, migrated, with numbers that continue the old ones, and
without work that has run since the backup was made. Agents that run are stopped before: a report of theirs would belong
to rows that the backup does not have. Only then the files are exchanged, in one step that a crash does not cut.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from ramet.clock import Clock
from ramet.config.database_trust import find_number
from ramet.config.settings import Places, Settings
from ramet.daemon import composition
from ramet.daemon.damage.database_guard import remove_mark
from ramet.engine import Engine
from ramet.errors import BackupUnusable, InvalidParams, RametError, WorkError
from ramet.faults import Faults
from ramet.model.principal import RUNNER
from ramet.model.record.effort import StopRequest
from ramet.protocol.operation import Request
from ramet.protocol.system.backups import REPLACED, NamedBackup, find_backups, name_backup
from ramet.protocol.work.keepers import KeeperRecord
from ramet.protocol.work.leases import CompleteWork
from ramet.protocol.work.queue import DropWork
from ramet.runner.processes import keepers
from ramet.store.database.connection import to_json
from ramet.store.database.lock import DatabaseLock
from ramet.store.database.open import open_staged
from ramet.store.database.sqlite import staged_file
from ramet.store.database.sqlite.backup_file import try_to_identify, verify
from ramet.store.database.sqlite.connection import SqliteConnection
from ramet.store.database.sqlite.marker import read_marker
from ramet.store.database.sqlite.staged_file import Contents, EffortState
from ramet.store.database.sqlite.swap import Decision, carry_on, put_in_place, staging_place
from ramet.store.memory.index.search_index import SearchIndex

_END_SECONDS = 60.0
_PAUSE_SECONDS = 0.05
_REASON = "the database was restored from a backup that was made before this ended"


class BackupRow(Struct, frozen=True, kw_only=True):
    """One file of the backups directory."""

    path: str
    made_at: datetime
    label: str | None
    bytes: int
    schema_version: int | None
    last_event: int | None
    state: str
    """`usable`, `other database`, `replaced` or `unreadable`."""


class BackupList(Struct, frozen=True, kw_only=True):
    """The backups, the newest first."""

    items: list[BackupRow]
    next: None = None


class RestoreOrder(Struct, frozen=True, kw_only=True):
    """Which backup is wanted: `latest`, or an absolute path."""

    backup: str = "latest"


class Losses(Struct, frozen=True, kw_only=True):
    """How much more the replaced database has than the backup."""

    messages: int
    efforts: int
    sessions: int
    events: int


class Preview(Struct, frozen=True, kw_only=True):
    """What a restore would do."""

    backup: str
    has: Contents
    database: str
    database_has: Contents | None
    """None if the database is missing or cannot be read."""
    losses: Losses | None
    agents: list[int]
    """The efforts whose agents run and would be stopped."""
    skipped: list[str]
    """Newer backups that cannot be used, and why."""


class Restored(Struct, frozen=True, kw_only=True):
    """What a restore has done."""

    backup: str
    database: str
    kept: str | None
    """Where the replaced database is."""
    losses: Losses | None
    stopped: list[int]
    """The efforts whose agents were stopped."""
    dropped: list[int]
    """The efforts that were taken off the queue because they have run since, or may have."""


class _Chosen(NamedTuple):
    path: Path
    skipped: list[str]


def list_backups(places: Places) -> BackupList:
    """Every backup of this home, with what it is of."""
    origin = _find_origin(places)
    return BackupList(items=[_show(each, origin) for each in find_backups(places.backups)])


def preview(places: Places, order: RestoreOrder) -> Preview:
    """Say what a restore would do. It changes nothing, and a daemon may run meanwhile."""
    database = require_file(places)
    chosen = _choose(places, order)
    verify(chosen.path)
    has, now = staged_file.describe(chosen.path), staged_file.try_to_describe(database)
    return Preview(
        backup=str(chosen.path),
        has=has,
        database=str(database),
        database_has=now,
        losses=_compare(has, now),
        agents=[record.effort_id for record in _running(places)],
        skipped=chosen.skipped,
    )


def restore(
    settings: Settings, places: Places, engine: Engine, clock: Clock, faults: Faults, order: RestoreOrder
) -> Restored:
    """Put a copy of a backup in the place of the database, which is kept."""
    database = require_file(places)
    chosen = _choose(places, order)
    with holding(places, faults):
        staged = staging_place(database)
        staged_file.copy_backup(chosen.path, staged)
        has, now = staged_file.describe(staged), staged_file.try_to_describe(database)
        stopped = _stop_agents(places)
        dropped = _prepare(settings, places, engine, clock, database)
        # One name, so that what belongs together is found together.
        name = name_backup(places.name, clock.now_ms(), "before-restore")
        kept = put_aside(places, database, name, faults)
        _keep_spools(places, name)
    return Restored(
        backup=str(chosen.path),
        database=str(database),
        kept=kept,
        losses=_compare(has, now),
        stopped=stopped,
        dropped=dropped,
    )


class Accepted(Struct, frozen=True, kw_only=True):
    """What is used from now on."""

    database: str
    has: Contents | None
    """None if there is no file, or none that can be read: a missing or empty one becomes a new database."""


def accept(places: Places) -> Accepted:
    """Take the file as it is, whichever was there before: forget what is remembered of it."""
    database = require_file(places)
    with holding(places, Faults()):
        has = staged_file.try_to_describe(database) if database.exists() else None
        places.marker.unlink(missing_ok=True)
        remove_mark(places.damage_mark)
        SearchIndex(places.index).discard()
    return Accepted(database=str(database), has=has)


def put_aside(places: Places, database: Path, name: str, faults: Faults) -> str | None:
    """Exchange the database for the staged file, and forget what was derived from it; the path of the old one."""
    log = Path(f"{database}-wal")
    has_log = log.exists() and log.stat().st_size > 0
    kept = _beside(database, places.backups) / name if database.exists() or has_log else None
    decision = Decision(kept=None if kept is None else str(kept))
    put_in_place(database, decision, places.swap, places.marker, faults)
    remove_mark(places.damage_mark)
    SearchIndex(places.index).discard()
    if kept is None:
        return None
    return str(kept) if kept.exists() else f"{kept}-wal"  # of a database that is missing, the log may be left


def _prepare(settings: Settings, places: Places, engine: Engine, clock: Clock, database: Path) -> list[int]:
    """Make the copy what the database shall be: of today's schema, and without work that would run twice."""
    marker = read_marker(places.marker)
    numbers = staged_file.find_numbers(database, None if marker is None else marker.numbers)
    since = staged_file.read_efforts(database) if database.exists() else None
    staged = staging_place(database)
    store = open_staged(settings.database, places, staged, clock=clock, number=find_number(places.home, database))
    try:
        db = store.connect()
        db.begin()
        dropped = _drop_old_work(db, engine, clock, since)
        data = to_json({"dropped": dropped})
        staged_file.continue_numbers(db.database, numbers, now_ms=clock.now_ms(), data=data or "{}")
        db.commit()
    finally:
        store.close()
        staged.with_name(f"{staged.name}.lock").unlink(missing_ok=True)
    return dropped


def _drop_old_work(
    db: SqliteConnection, engine: Engine, clock: Clock, since: dict[int, EffortState] | None
) -> list[int]:
    """End what was running when the backup was made, and take what has begun since off the queue. If the replaced
    database cannot say, everything that was queued may have begun.
    """

    def perform(request: Request[Any]) -> None:
        engine.perform(db, engine.prepare(request.op, request, RUNNER), clock.now_ms())

    dropped = []
    for effort_id, state, is_leased in staged_file.unfinished_efforts(db):
        if is_leased:
            perform(CompleteWork(effort_id=effort_id, generation=state.generation, outcome="cancelled", reason=_REASON))
        elif state.lifecycle == "queued" and (since is None or since.get(effort_id) != state):
            perform(DropWork(effort_id=effort_id))
        else:
            continue
        dropped.append(effort_id)
    return dropped


def _choose(places: Places, order: RestoreOrder) -> _Chosen:
    if order.backup != "latest":
        path = Path(order.backup)
        if not path.is_absolute():
            raise InvalidParams(
                "the path is not absolute", field="path", value=order.backup, fix="give a path that starts with /"
            )
        staged_file.refuse_unusable(path, places.home)
        return _Chosen(path, [])
    origin, skipped = _find_origin(places), list[str]()
    for each in find_backups(places.backups):
        if _state(each, origin) != "usable":
            continue
        try:
            staged_file.refuse_unusable(each.path, places.home)
            verify(each.path)
        except RametError as error:
            skipped.append(error.message)
            continue
        return _Chosen(each.path, skipped)
    raise BackupUnusable(
        f"there is no backup of this database in {places.backups} that can be used",
        field="path",
        value=order.backup,
        fix="name a file: `ramet db restore FILE`; or read what is left of the database: `ramet db salvage`",
    )


def _show(backup: NamedBackup, origin: str | None) -> BackupRow:
    found = try_to_identify(backup.path)
    return BackupRow(
        path=str(backup.path),
        made_at=backup.made_at,
        label=backup.label,
        bytes=backup.path.stat().st_size,
        schema_version=None if found is None else found.schema_version,
        last_event=None if found is None else found.last_event,
        state=_state(backup, origin),
    )


def _state(backup: NamedBackup, origin: str | None) -> str:
    if backup.label in REPLACED:
        return "replaced"
    found = try_to_identify(backup.path)
    if found is None:
        return "unreadable"
    if origin is not None and found.origin is not None and found.origin != origin:
        return "other database"
    return "usable"


def _find_origin(places: Places) -> str | None:
    """The name of the database whose backups are looked for: as its marker remembers it, or else as it says itself."""
    marker = read_marker(places.marker)
    if marker is not None:
        return marker.identity.origin
    found = None if places.database is None else try_to_identify(places.database)
    return None if found is None else found.origin


def _compare(has: Contents, now: Contents | None) -> Losses | None:
    if now is None:
        return None
    return Losses(
        messages=now.messages - has.messages,
        efforts=now.efforts - has.efforts,
        sessions=now.sessions - has.sessions,
        events=now.last_event - has.last_event,
    )


def _running(places: Places) -> list[KeeperRecord]:
    return [record for record in keepers.list_records(places.keepers) if keepers.is_alive(record)]


def _stop_agents(places: Places) -> list[int]:
    """End every agent that a keeper of this database runs. What they have written stays in their worktrees."""
    running = _running(places)
    for record in running:
        keepers.ask_to_stop(places.keepers, record, StopRequest(outcome="cancelled", reason=_REASON))
    deadline = time.monotonic() + _END_SECONDS
    while any(keepers.is_alive(record) for record in running):
        if time.monotonic() > deadline:
            left = next(record for record in running if keepers.is_alive(record))
            raise WorkError(
                f"the agent of effort {left.effort_id} did not end in {_END_SECONDS:g} seconds",
                value=left.pid,
                fix=f"end its keeper, then repeat this: kill -9 {left.pid}",
            )
        time.sleep(_PAUSE_SECONDS)
    return [record.effort_id for record in running]


def _keep_spools(places: Places, name: str) -> None:
    """Keep what keepers wrote beside the replaced database, to which it belongs."""
    folder = places.backups / f"{Path(name).stem}-keepers"
    instances = keepers.list_instances(places.keepers)
    if instances:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for instance in instances:
        (places.keepers / instance).rename(folder / instance)


def _beside(database: Path, backups: Path) -> Path:
    """Where a replaced database is kept: with the backups, if a rename can bring it there."""
    backups.mkdir(mode=0o700, parents=True, exist_ok=True)
    return backups if backups.stat().st_dev == database.parent.stat().st_dev else database.parent


def require_file(places: Places) -> Path:
    """The database, which has to be a file."""
    if places.database is None:
        raise InvalidParams(
            "a PostgreSQL server is restored by its administrator",
            field="database.type",
            value="postgres",
            fix="use the server's own tools, such as pg_restore",
        )
    return places.database


@contextmanager
def holding(places: Places, faults: Faults) -> Iterator[None]:
    """Hold the database's lock, with an earlier exchange of files carried on to its end."""
    with composition.naming_the_holder(places):
        lock = DatabaseLock(places.lock_file)
    try:
        carry_on(require_file(places), places.swap, places.marker, faults)
        yield
    finally:
        lock.release()
