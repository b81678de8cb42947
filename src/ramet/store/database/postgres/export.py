"""A PostgreSQL database as one SQLite file: the same tables and columns, at the same schema version.

Both databases have the same tables, so a backup needs no tool of the server's and can be opened, checked and queried
anywhere. Everything is read in one snapshot; the file gets its name when it is whole.

The tables and columns to read come from the server's catalog: a superseded text of a migration may have made others
than the present one. What only the server has is added to the file, so that nothing is lost.
"""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from psycopg import sql

from ramet.errors import InvalidParams
from ramet.store.database.connection import Row
from ramet.store.database.postgres.connection import PostgresConnection
from ramet.store.database.queries import QueryFile
from ramet.store.database.schema.migrations import HASHED_SINCE, load_migrations
from ramet.store.database.sqlite.backup_file import APPLICATION_ID
from ramet.store.database.sqlite.connection import SqliteConnection, open_writer
from ramet.store.database.sqlite.files import create_private, flush

_CHUNK = 500
_sql = QueryFile("database/catalog")
_TYPES = {"bigint": "INTEGER", "integer": "INTEGER", "bytea": "BLOB", "double precision": "REAL", "real": "REAL"}
_SERVER_ONLY = ("xid8",)
"""Types of columns that mean something only on the server."""
_CREATES = re.compile(r"CREATE TABLE (\w+)")


def export_database(source: PostgresConnection, version: int, target: Path) -> None:
    """Write everything in `source`, which has schema `version`, to the new file `target`."""
    if target.exists():
        raise InvalidParams(
            f"{target} already exists", field="path", value=str(target), fix="name a file that does not exist yet"
        )
    partial = target.with_name(target.name + ".partial")
    partial.unlink(missing_ok=True)
    try:
        create_private(partial)
        _write(source, version, partial)
        flush(partial)
        partial.rename(target)
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            Path(f"{partial}{suffix}").unlink(missing_ok=True)


def _write(source: PostgresConnection, version: int, path: Path) -> None:
    copy = open_writer(path, "process")
    try:
        source.begin_reading()
        _create_tables(copy, version)
        there = _read_columns(source)
        for table in known_tables(version):
            if table in there:
                _add_columns(copy, table, there[table])
                _copy_table(source, copy, table, list(there[table]))
        if version >= HASHED_SINCE:
            # They are those of the other texts; whoever opens the file proves its schema.
            copy.database.execute("UPDATE schema_migrations SET hash = NULL")
        copy.database.execute("COMMIT")
        copy.database.execute("PRAGMA journal_mode = DELETE").fetchall()
    finally:
        source.rollback()
        copy.close()


def _create_tables(copy: SqliteConnection, version: int) -> None:
    """The schema as it was at `version`, in a transaction that checks references only at its end."""
    copy.database.pragma("foreign_keys", False)
    copy.database.pragma("ignore_check_constraints", True)  # what is there is copied as it is
    copy.database.execute("BEGIN IMMEDIATE")
    for migration in load_migrations("sqlite"):
        if migration.number <= version:
            for statement in migration.statements:
                copy.database.execute(statement)
    copy.database.pragma("application_id", APPLICATION_ID)


def _read_columns(source: PostgresConnection) -> dict[str, dict[str, str]]:
    """The columns of each table that the database has, each with its type in SQLite."""
    columns: dict[str, dict[str, str]] = {}
    for table, column, kind in source.all(_sql.columns):
        if kind not in _SERVER_ONLY:
            columns.setdefault(table, {})[column] = _TYPES.get(kind, "TEXT")
    return columns


def _add_columns(copy: SqliteConnection, table: str, columns: dict[str, str]) -> None:
    """Add the columns that the present text of the table does not have."""
    known = {row[1] for row in copy.database.execute(f"PRAGMA table_info({table})")}
    for column, kind in columns.items():
        if column not in known:
            copy.database.execute(f'ALTER TABLE {table} ADD COLUMN "{column}" {kind}')


def known_tables(version: int | None = None) -> list[str]:
    """The tables that the migrations up to `version` create, in the order of their creation."""
    created = (
        match[1]
        for migration in load_migrations("sqlite")
        if version is None or migration.number <= version
        for statement in migration.statements
        if (match := _CREATES.match(statement))
    )
    return list(dict.fromkeys(created))  # a migration may drop a table and create it again


def _copy_table(source: PostgresConnection, copy: SqliteConnection, table: str, columns: list[str]) -> None:
    names, places = ", ".join(f'"{column}"' for column in columns), ", ".join("?" for _ in columns)
    copy.database.execute(f"DELETE FROM {table}")  # noqa: S608 - a migration may have put a row there
    insert = f"INSERT INTO {table} ({names}) VALUES ({places})"  # noqa: S608
    rows = _rows(source, table, columns)
    while chunk := list(islice(rows, _CHUNK)):
        copy.database.executemany(insert, chunk)


def _rows(source: PostgresConnection, table: str, columns: list[str]) -> Iterator[Row]:
    names = sql.SQL(", ").join(sql.Identifier(column) for column in columns)
    statement = sql.SQL("SELECT {} FROM {}").format(names, sql.Identifier(table))
    with source.database.cursor(name="export") as cursor:
        cursor.itersize = _CHUNK
        cursor.execute(statement)
        yield from cursor
