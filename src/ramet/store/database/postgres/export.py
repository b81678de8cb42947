"""A PostgreSQL database as one SQLite file: the same tables and columns, at the same schema version.

Both databases have the same tables, so a backup needs no tool of the server's and can be opened, checked and queried
anywhere. Everything is read in one snapshot; the file gets its name when it is whole.
"""

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from psycopg import sql

from ramet.errors import InvalidParams
from ramet.store.database.connection import Row
from ramet.store.database.postgres.connection import PostgresConnection
from ramet.store.database.schema.migrations import load_migrations
from ramet.store.database.sqlite.backup_file import APPLICATION_ID
from ramet.store.database.sqlite.connection import SqliteConnection, open_writer
from ramet.store.database.sqlite.store import create_private

_CHUNK = 500
_CREATES = re.compile(r"CREATE TABLE (\w+)")


def export_database(source: PostgresConnection, version: int, target: Path) -> None:
    """Write everything in `source`, which has schema `version`, to the new file `target`."""
    if target.exists():
        raise InvalidParams(
            f"{target} already exists", field="path", value=str(target), fix="name a file that does not exist yet"
        )
    partial = target.with_name(target.name + ".partial")
    partial.unlink(missing_ok=True)
    create_private(partial)
    copy = open_writer(partial, "process")
    try:
        source.begin_reading()
        _create_tables(copy, version)
        for table in known_tables(version):
            _copy_table(source, copy, table)
        copy.database.execute("COMMIT")
        copy.database.execute("PRAGMA journal_mode = DELETE").fetchall()
    finally:
        source.rollback()
        copy.close()
    descriptor = os.open(partial, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
    partial.rename(target)


def _create_tables(copy: SqliteConnection, version: int) -> None:
    """The schema as it was at `version`, in a transaction that checks references only at its end."""
    copy.database.pragma("foreign_keys", False)
    copy.database.execute("BEGIN IMMEDIATE")
    for migration in load_migrations("sqlite"):
        if migration.number <= version:
            for statement in migration.statements:
                copy.database.execute(statement)
    copy.database.pragma("application_id", APPLICATION_ID)


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


def _copy_table(source: PostgresConnection, copy: SqliteConnection, table: str) -> None:
    columns = [str(row[1]) for row in copy.database.execute(f"PRAGMA table_info({table})")]
    places = ", ".join("?" for _ in columns)
    copy.database.execute(f"DELETE FROM {table}")  # noqa: S608 - a migration may have put a row there
    insert = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})"  # noqa: S608
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
