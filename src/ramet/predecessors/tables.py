"""The tables of an earlier system's SQLite database: every row with every column, whatever tables there are."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ramet.errors import ImportSourceInvalid
from ramet.model.memory.predecessor import SourceRow
from ramet.predecessors.source import plain
from ramet.vendors.contract.stored_files.database_file import Database, open_database
from ramet.vendors.contract.stored_files.unreadable import SourceUnreadable

Columns = dict[str, Any]
"""The values of a row by the names of their columns."""


@contextmanager
def opened(path: Path, needs: Mapping[str, Sequence[str]]) -> Iterator[Database]:
    """A database with these tables and columns."""
    try:
        with open_database(path, needs) as database:
            yield database
    except SourceUnreadable as error:
        raise ImportSourceInvalid(str(error), field="path", value=str(path)) from error


def list_tables(database: Database) -> list[str]:
    """Every table that holds rows of its own."""
    query = (
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
        "AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"
    )
    return [row[0] for row in database.rows(query)]


def read_table(database: Database, table: str, order: str | None = None) -> Iterator[tuple[str, Columns]]:
    """Each row of a table with its key: its primary key, or its place if it has none. A missing table has no row."""
    info = list(database.rows("SELECT name, pk FROM pragma_table_info(?1) ORDER BY cid", table))
    if not info:
        return
    names = [name for name, _ in info]
    keys = [name for name, place in sorted((row for row in info if row[1]), key=lambda row: row[1])]
    columns = ", ".join(map(_quoted, names))
    place = ", ".join(map(_quoted, keys)) or "rowid"
    query = f"SELECT {place}, {columns} FROM {_quoted(table)} ORDER BY {order or place}"  # noqa: S608
    width = len(keys) or 1
    for row in database.rows(query):
        yield ":".join(map(str, row[:width])), dict(zip(names, row[width:], strict=True))


def kept(table: str, key: str, columns: Columns, becomes: Sequence[Any] = ()) -> SourceRow:
    """A row with every column, and what it becomes."""
    return SourceRow(
        table=table, key=key, values={name: plain(value) for name, value in columns.items()}, becomes=list(becomes)
    )


def read_others(database: Database, known: Sequence[str]) -> Iterator[SourceRow]:
    """The rows of all other tables, which Ramet has no place for: they are kept as they are."""
    for table in list_tables(database):
        if table not in known:
            yield from (kept(table, key, columns) for key, columns in read_table(database, table))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
