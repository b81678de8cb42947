"""A backup as a file: what is in it, and whether it can be trusted to be whole.

A backup is opened to read only. Nothing here changes it, also if it is damaged, another program's or another person's.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
from msgspec import Struct

from ramet.errors import DatabaseDamaged, DatabaseForeign, DatabaseNewer, StoreError
from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile
from ramet.store.database.schema.foreign import refuse_altered
from ramet.store.database.schema.migrations import load_migrations
from ramet.store.database.sqlite.connection import SqliteConnection, open_reader
from ramet.store.database.sqlite.result_codes import translate

_sql = QueryFile("database/identity")
_migrations = QueryFile("database/migrations")

APPLICATION_ID = 0x52414D54
"""Marks a file as ours ("RAMT"), so that another program's database is refused instead of changed."""
_EVENTS_VERSION = 3
"""The schema version from which on a database has events."""
_ORIGIN_VERSION = 29
"""The schema version from which on a database has a name of its own, by which copies of it are recognised."""


class Identity(Struct, frozen=True, kw_only=True):
    """Which database a file is, and how far it has come."""

    origin: str | None
    """The random name of the database; a copy has the same. None for one that is too old to have one."""
    schema_version: int
    last_event: int
    """The number of the newest event, which only grows."""


def identify(connection: Connection) -> Identity:
    """Which database this is. It has to have the schema of some version of ours."""
    version = int(connection.must(_migrations.version)[0])
    origin = connection.must(_sql.origin)[0] if version >= _ORIGIN_VERSION else None
    last_event = int(connection.must(_sql.last_event)[0]) if version >= _EVENTS_VERSION else 0
    return Identity(origin=origin, schema_version=version, last_event=last_event)


@contextmanager
def open_file(path: Path) -> Iterator[SqliteConnection]:
    """A database of ours in a file, to read; what is not ours is refused. SQLite's own errors come as ours.

    An empty file is not opened: SQLite would delete the WAL beside it, which may have all that is left.
    """
    if path.exists() and path.stat().st_size == 0:
        raise DatabaseForeign(f"{path} is empty", field="path", value=str(path))
    reader = open_reader(path)
    try:
        if reader.database.pragma("application_id") != APPLICATION_ID:
            raise DatabaseForeign(f"{path} is not a Ramet database", field="path", value=str(path))
        yield reader
    except apsw.Error as error:
        raise translate(error) from error
    finally:
        reader.close()


def verify(path: Path) -> Identity:
    """Read the whole file. Raises if it is damaged, not ours, or from a newer version."""
    with open_file(path) as reader:
        identity = identify(reader)
        newest = load_migrations("sqlite")[-1].number
        if identity.schema_version > newest:
            raise DatabaseNewer(
                f"{path} has schema version {identity.schema_version}; this version of Ramet knows versions up to "
                f"{newest}",
                field="path",
                value=str(path),
            )
        refuse_altered(reader, "sqlite", identity.schema_version)
        problem = next((found for (found,) in reader.database.execute("PRAGMA quick_check(1)") if found != "ok"), None)
        if problem is not None:
            raise DatabaseDamaged(f"{path} is damaged: {problem}", field="path", value=str(path))
    return identity


def try_to_identify(path: Path) -> Identity | None:
    """Which database a file is; None if it cannot be read."""
    try:
        with open_file(path) as reader:
            return identify(reader)
    except StoreError:
        return None


def read_numbers(database: apsw.Connection) -> dict[str, int]:
    """The highest number that each table has given to a row, as far as numbers are not given twice."""
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    numbers: dict[str, int] = {}
    if "sqlite_sequence" in tables:
        numbers = dict(database.execute("SELECT name, seq FROM sqlite_sequence").fetchall())  # type: ignore[arg-type]
    if "events" in tables:
        ((numbers["events"],),) = database.execute("SELECT coalesce(max(id), 0) FROM events")
    return numbers
