"""Backups: SQLite files of any earlier version, opened as they are."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from ramet.store.database.sqlite.connection import SqliteConnection
from ramet.store.database.sqlite.result_codes import translate
from ramet.store.database.sqlite.text_rows import SqliteTextRows
from ramet.store.database.text_rows import TextRows


@contextmanager
def open_copy(path: Path) -> Iterator[tuple[SqliteConnection, TextRows, bool]]:
    """A copy of a database to search and to change, and whether it has tombstones; its schema stays what it is."""
    try:
        database = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection = SqliteConnection(database)
            rows = SqliteTextRows(connection)
            names = {name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
            if "blobs" not in names:
                raise ValueError("it is another program's database")
            yield connection, rows, "tombstones" in names
        finally:
            database.close()
    except apsw.Error as error:
        raise translate(error) from error
