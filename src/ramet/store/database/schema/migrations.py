"""Migrations: numbered, forward only, the same numbers for both databases.

Each runs in one transaction together with its record, so that a database is always at exactly one version, however
it was interrupted. A database that is newer than this program is refused and left alone, and so is one to which other
migrations were applied than ours.

The record has the hash of the text. Databases from before hashes were recorded get theirs once their schema proves that
it is what our texts make. Some are not: their texts were edited after they had landed. These are repaired first.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from typing import Literal, Protocol

from msgspec import Struct

from ramet.clock import Clock
from ramet.errors import DatabaseDamaged, DatabaseForeign, DatabaseNewer, MigrationFailed, RametError, StatementFailed
from ramet.faults import Faults
from ramet.model.instant import to_iso
from ramet.store.database.connection import Connection, Row
from ramet.store.database.queries import Query, QueryFile, split_statements
from ramet.store.database.schema.hashes import hash_text, superseded_hashes
from ramet.store.database.schema.repairs import Repair, find_repairs

Dialect = Literal["sqlite", "postgres"]

_sql = QueryFile("database/migrations")


HASHED_SINCE = 34
"""The migration that adds the column for hashes."""

RESTORING: dict[Dialect, str] = {
    "sqlite": "return to a backup: `ramet db restore latest`",
    "postgres": "restore a backup of the server's database",
}
"""The way back from a database that is not what our migrations made."""


class Migration(Struct, frozen=True):
    """One numbered step."""

    number: int
    name: str
    statements: tuple[str, ...]
    hash: str = ""
    """Of its text."""


class Migrated(Struct, frozen=True, kw_only=True):
    """What opening a database did to its schema."""

    before: int
    after: int
    applied: list[str]
    repaired: list[str] = []
    """What was brought to the present text of a migration."""
    backup: str | None = None
    differences: list[str] = []
    """How the schema differs from the one that our migrations make. Looked at only after a change."""


class Migratable(Protocol):
    """A connection, and how its database tells what it is."""

    dialect: Dialect

    @property
    def connection(self) -> Connection:
        """The one that migrates."""

    def schema_version(self) -> int:
        """The number of the last migration, 0 for an empty database; a foreign one is refused."""

    def mark(self) -> None:
        """Called inside the first migration's transaction: say whose database this is."""

    def differences(self, version: int) -> list[str]:
        """How the schema differs from the one that the migrations up to a version make."""


def load_migrations(dialect: Dialect) -> list[Migration]:
    """Every migration in order."""
    folder = files("ramet.store") / "sql" / "migrations" / dialect
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return [_parse(name, (folder / name).read_text(encoding="utf-8")) for name in names]


def _parse(file_name: str, text: str) -> Migration:
    number, _, name = file_name.removesuffix(".sql").partition("_")
    return Migration(int(number), name, split_statements(text), hash_text(text))


def migrate(
    database: Migratable,
    *,
    clock: Clock,
    faults: Faults,
    back_up: Callable[[int], str | None],
    migrations: Sequence[Migration] | None = None,
) -> Migrated:
    """Bring a database up to date. `back_up(version)` is called once, before the first change to one in use."""
    known = load_migrations(database.dialect) if migrations is None else migrations
    connection = database.connection
    # Before any transaction: one that begins while another process migrates would go on seeing what was there before.
    connection.run(_sql.exclude_others)
    before = database.schema_version()
    latest = known[-1].number if known else 0
    if before > latest:
        raise DatabaseNewer(
            f"the database has schema version {before}; this version of Ramet knows versions up to {latest}",
            field="schema_version",
            value=before,
        )
    is_proved = _refuse_others(_records(connection, before), known, database.dialect)
    # Before the migrations, which expect what the present texts make.
    repairs = [] if is_proved else find_repairs(connection, database.dialect)
    pending = [migration for migration in known if migration.number > before]
    backup = _back_up(back_up, before) if before and (pending or repairs) else None
    for repair in repairs:
        _repair(connection, repair, faults=faults, backup=backup)
    for migration in pending:
        _apply(database, migration, clock=clock, faults=faults, backup=backup)
    differences = database.differences(latest) if before and (pending or not is_proved) else []
    if not differences and latest >= HASHED_SINCE:
        _prove(connection, known)
    return Migrated(
        before=before,
        after=latest,
        applied=[step.name for step in pending],
        repaired=[repair.name for repair in repairs],
        backup=backup,
        differences=differences,
    )


def _records(connection: Connection, version: int) -> list[Row]:
    """The number, name and hash of each migration that was applied."""
    if version >= HASHED_SINCE:
        return connection.all(_sql.hashes)
    return [(*row, None) for row in connection.all(_sql.records)] if version else []


def _refuse_others(records: Sequence[Row], known: Sequence[Migration], dialect: Dialect) -> bool:
    """Raise if a migration was applied that is not ours. Whether every record has the hash of its present text."""
    applied = {number: (name, digest) for number, name, digest in records}
    last = max(applied, default=0)
    for ours in known[:last]:
        name, digest = applied.get(ours.number, (None, None))
        if name is None:
            raise _not_ours(ours, dialect, "it is missing from the records")
        if name != ours.name:
            raise _not_ours(ours, dialect, f"it is called {name}, and ours is {ours.name}")
        if digest not in (None, ours.hash) and digest not in superseded_hashes(ours.number, dialect):
            difference = f"the hash of its text is {digest[:12]}, and the hash of ours is {ours.hash[:12]}"
            raise _not_ours(ours, dialect, difference)
    return all(applied[ours.number][1] == ours.hash for ours in known[:last])


def _not_ours(ours: Migration, dialect: Dialect, difference: str) -> DatabaseForeign:
    return DatabaseForeign(
        f"migration {ours.number} of this database is not ours: {difference}",
        field="schema_version",
        value=ours.number,
        fix=f"open it with the build of Ramet that made it, or {RESTORING[dialect]}; it was not changed",
    )


def _back_up(back_up: Callable[[int], str | None], version: int) -> str | None:
    try:
        return back_up(version)
    except DatabaseDamaged:
        raise
    except Exception as error:
        reason = error.message if isinstance(error, RametError) else str(error)
        raise MigrationFailed(
            f"the backup that comes before a migration failed: {reason}",
            field="schema_version",
            value=version,
            fix="the database is unchanged: remove what prevents the backup, then run `ramet db migrate`",
        ) from error


def _repair(connection: Connection, repair: Repair, *, faults: Faults, backup: str | None) -> None:
    with _step(connection, f"repair {repair.name}", backup):
        for statement in repair.statements:
            faults.reach("during_migration")
            connection.run(statement)
        faults.reach("during_migration")


def _apply(database: Migratable, migration: Migration, *, clock: Clock, faults: Faults, backup: str | None) -> None:
    connection = database.connection
    number = migration.number
    with _step(connection, f"migration {number:04d}_{migration.name}", backup, number):
        for statement in migration.statements:
            faults.reach("during_migration")
            connection.run(Query(f"migration {number}", statement, statement))
        if number == 1:
            database.mark()
        connection.run(_sql.record, number=number, name=migration.name, applied_at=to_iso(clock.now_ms()))
        if number >= HASHED_SINCE:
            connection.run(_sql.record_hash, number=number, hash=migration.hash)
        faults.reach("during_migration")


@contextmanager
def _step(connection: Connection, title: str, backup: str | None, number: int | None = None) -> Iterator[None]:
    """One transaction; what fails in it is undone and named."""
    connection.begin()
    try:
        yield
        connection.commit()
    except Exception as error:
        connection.rollback()
        if isinstance(error, RametError) and not isinstance(error, StatementFailed):
            raise
        kept = f"; a backup is at {backup}" if backup else ""
        raise MigrationFailed(
            f"{title} failed and was rolled back: {error}{kept}", field="schema_version", value=number
        ) from error


def _prove(connection: Connection, known: Sequence[Migration]) -> None:
    """Record the hashes of our texts: the schema is what they make."""
    recorded = {number: digest for number, _, digest in connection.all(_sql.hashes)}
    if all(recorded[migration.number] == migration.hash for migration in known):
        return
    connection.begin()
    for migration in known:
        connection.run(_sql.record_hash, number=migration.number, hash=migration.hash)
    connection.commit()
