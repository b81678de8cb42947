"""Opening a database: takes its lock, brings its schema up to date, and refuses what is not ours."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ramet.clock import Clock
from ramet.config.database_trust import require_trusted
from ramet.config.settings import DatabaseSettings, Places
from ramet.errors import MissingDriver
from ramet.faults import Faults
from ramet.store.database.sqlite.store import Memory, SqliteReadableStore, SqliteStore
from ramet.store.database.store import ReadableStore, Store


def open_store(
    database: DatabaseSettings,
    places: Places,
    *,
    clock: Clock,
    faults: Faults,
    is_shared: bool = False,
    is_named_in_code: bool = False,
) -> Store:
    """The store that the settings name. A shared one takes no lock, which only a server allows: the lock on this
    machine is the daemon's.

    A file inside a project has to be trusted, unless the user's own program names it.
    """
    if database.type == "postgres":
        lock_file = None if is_shared else places.lock_file
        return _open_postgres(database, lock_file, places.backups, clock=clock, faults=faults)
    file = _file(places)
    number = None if is_named_in_code else require_trusted(places.home, file)
    store = SqliteStore(
        file,
        lock_file=places.lock_file,
        backups=places.backups,
        durability=database.durability,
        clock=clock,
        faults=faults,
        memory=Memory(places.marker, places.swap, is_checked=not is_named_in_code),
    )
    store.mark(number)
    return store


def open_staged(
    database: DatabaseSettings, places: Places, file: Path, *, clock: Clock, number: int | None
) -> SqliteStore:
    """A file that is going to be the database, while it is prepared. Whoever prepares it has the database's lock."""
    store = SqliteStore(
        file,
        lock_file=file.with_name(f"{file.name}.lock"),
        backups=places.backups,
        durability=database.durability,
        clock=clock,
        faults=Faults(),
    )
    store.mark(number)
    return store


def open_to_read(database: DatabaseSettings, places: Places) -> ReadableStore:
    """The same database for a process that only reads it, while another holds its lock."""
    if database.type == "postgres":
        with _naming_the_driver():
            from ramet.store.database.postgres.store import PostgresReadableStore  # noqa: PLC0415 - an optional package

        return PostgresReadableStore(database)
    return SqliteReadableStore(_file(places))


def _open_postgres(
    database: DatabaseSettings, lock_file: Path | None, backups: Path, *, clock: Clock, faults: Faults
) -> Store:
    with _naming_the_driver():
        from ramet.store.database.postgres.store import PostgresStore  # noqa: PLC0415
    return PostgresStore(database, lock_file=lock_file, backups=backups, clock=clock, faults=faults)


@contextmanager
def _naming_the_driver() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise MissingDriver(
            "database.type is postgres, but psycopg is not installed", field="database.type", value="postgres"
        ) from error


def reset_store(database: DatabaseSettings, places: Places, *, clock: Clock) -> str:
    """Remove everything, after a backup, whose path is returned. Only ever on request."""
    store = open_store(database, places, clock=clock, faults=Faults())
    try:
        backup = store.back_up_into(places.backups, "before-reset", clock)
        store.erase()
    finally:
        store.close()
    return backup


def _file(places: Places) -> Path:
    if places.database is None:
        raise MissingDriver("no SQLite file is configured", field="database.path")
    return places.database
