"""What schema a server's database has, and which one the migrations make there.

No catalogue of ours says what to expect: the migrations run in the server's own schema for temporary tables, in a
transaction that is rolled back. So both sides are in the words of one server, whatever its version. Tables and views of
other programs in the same schema are not looked at.
"""

import psycopg

from ramet.store.database.connection import Row
from ramet.store.database.postgres.connection import PostgresConnection
from ramet.store.database.postgres.sqlstates import translate
from ramet.store.database.queries import QueryFile
from ramet.store.database.schema.catalog import Part, Schema, compare
from ramet.store.database.schema.migrations import load_migrations

_sql = QueryFile("database/catalog")
_NOT_ALLOWED = (
    psycopg.errors.InsufficientPrivilege,
    psycopg.errors.ReadOnlySqlTransaction,
    psycopg.errors.FeatureNotSupported,  # what a standby says
)


def find_differences(connection: PostgresConnection, version: int) -> list[str]:
    """How the schema differs from the one that the migrations up to a version make. That this cannot be found out is no
    reason not to open a database.
    """
    try:
        expected, found = _read_schemas(connection, version)
    except _NOT_ALLOWED as error:
        return [f"the schema cannot be compared, for which Ramet has to make temporary tables: {error}"]
    except psycopg.Error as error:
        raise translate(error) from error
    return compare(expected, found)


def _read_schemas(connection: PostgresConnection, version: int) -> tuple[Schema, Schema]:
    database = connection.database
    database.execute("BEGIN READ WRITE")  # also on a connection that only reads: it is rolled back
    try:
        found = connection.all(_sql.parts)
        database.execute("SET LOCAL search_path = pg_temp")
        for migration in load_migrations("postgres"):
            if migration.number <= version:
                for statement in migration.statements:
                    database.execute(statement.encode())
        expected = connection.all(_sql.parts)
    finally:
        connection.rollback()
    ours = {owner for _, _, owner, _ in expected}
    return _schema(expected, ours), _schema(found, ours)


def _schema(rows: list[Row], owners: set[str]) -> Schema:
    return {Part(kind, name): definition for kind, name, owner, definition in rows if owner in owners}
