"""Migrations: numbered, forward only, the same numbers for both databases.

Each runs in one transaction together with its record, so that a database is always at exactly one version, however
it was interrupted. A database that is newer than this program is refused and left alone.
"""

from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Literal, Protocol

from msgspec import Struct

from ramet.clock import Clock
from ramet.errors import DatabaseNewer, MigrationFailed, RametError, StatementFailed
from ramet.faults import Faults
from ramet.model.instant import to_iso
from ramet.store.database.connection import Connection
from ramet.store.database.queries import Query, QueryFile

Dialect = Literal["sqlite", "postgres"]

_sql = QueryFile("database/migrations")


class Migration(Struct, frozen=True):
    """One numbered step."""

    number: int
    name: str
    statements: tuple[str, ...]


class Migrated(Struct, frozen=True, kw_only=True):
    """What opening a database did to its schema."""

    before: int
    after: int
    applied: list[str]
    backup: str | None = None


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


def load_migrations(dialect: Dialect) -> list[Migration]:
    """Every migration in order."""
    folder = files("ramet.store") / "sql" / "migrations" / dialect
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return [_parse(name, (folder / name).read_text(encoding="utf-8")) for name in names]


def _parse(file_name: str, text: str) -> Migration:
    number, _, name = file_name.removesuffix(".sql").partition("_")
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    statements = [part.strip() for part in "\n".join(lines).split(";\n")]
    return Migration(int(number), name, tuple(part.rstrip(";") for part in statements if part))


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
    # Before any transaction: one that begins while another process migrates would go on seeing what was there before.
    database.connection.run(_sql.exclude_others)
    before = database.schema_version()
    latest = known[-1].number if known else 0
    if before > latest:
        raise DatabaseNewer(
            f"the database has schema version {before}; this version of Ramet knows versions up to {latest}",
            field="schema_version",
            value=before,
        )
    pending = [migration for migration in known if migration.number > before]
    backup = back_up(before) if pending and before else None
    for migration in pending:
        _apply(database, migration, clock=clock, faults=faults, backup=backup)
    return Migrated(before=before, after=latest, applied=[step.name for step in pending], backup=backup)


def _apply(database: Migratable, migration: Migration, *, clock: Clock, faults: Faults, backup: str | None) -> None:
    connection = database.connection
    connection.begin()
    try:
        for statement in migration.statements:
            faults.reach("during_migration")
            connection.run(Query(f"migration {migration.number}", statement, statement))
        if migration.number == 1:
            database.mark()
        connection.run(_sql.record, number=migration.number, name=migration.name, applied_at=to_iso(clock.now_ms()))
        faults.reach("during_migration")
        connection.commit()
    except Exception as error:
        connection.rollback()
        if isinstance(error, RametError) and not isinstance(error, StatementFailed):
            raise
        kept = f"; a backup is at {backup}" if backup else ""
        raise MigrationFailed(
            f"migration {migration.number:04d}_{migration.name} failed and was rolled back: {error}{kept}",
            field="schema_version",
            value=migration.number,
        ) from error
