"""What schema a SQLite file has, and which one the migrations make."""

from collections.abc import Iterable
from functools import cache

import apsw

from ramet.store.database.queries import QueryFile
from ramet.store.database.schema.catalog import Part, Schema, normalize, parse_table
from ramet.store.database.schema.migrations import Migration, load_migrations
from ramet.store.database.sqlite.connection import SqliteConnection

_sql = QueryFile("database/catalog")


def read_schema(connection: SqliteConnection) -> Schema:
    """The parts of the schema that a file has."""
    schema: Schema = {}
    for kind, name, _, statement in connection.all(_sql.parts):
        schema.update(parse_table(name, statement) if kind == "table" else {Part(kind, name): normalize(statement)})
    return schema


@cache
def expect_schema(version: int) -> Schema:
    """The parts of the schema that the migrations up to a version make."""
    return _make(step for step in load_migrations("sqlite") if step.number <= version)


def _make(migrations: Iterable[Migration]) -> Schema:
    database = apsw.Connection(":memory:")
    try:
        for migration in migrations:
            for statement in migration.statements:
                database.execute(statement)
        return read_schema(SqliteConnection(database))
    finally:
        database.close()
