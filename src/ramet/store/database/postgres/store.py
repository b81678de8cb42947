"""The store on a PostgreSQL server."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import psycopg
from psycopg.sql import SQL, Identifier

from ramet.clock import Clock
from ramet.config.secrets import hide_password
from ramet.config.settings import DatabaseSettings
from ramet.errors import InvalidSetting, QueryFailed, QueryRefused
from ramet.faults import Faults
from ramet.protocol.system.database import BackupReport, QueryResult
from ramet.store.database.connection import Connection
from ramet.store.database.lock import DatabaseLock
from ramet.store.database.migrations import Dialect, migrate
from ramet.store.database.postgres.connection import PostgresConnection, connect, translate
from ramet.store.database.postgres.export import export_database, known_tables
from ramet.store.database.postgres.news import News
from ramet.store.database.postgres.text_rows import PostgresTextRows
from ramet.store.database.queries import QueryFile
from ramet.store.database.schema_check import refuse_altered
from ramet.store.database.sqlite.query import jsonable
from ramet.store.database.store import Store
from ramet.store.database.text_rows import TextRows

_sql = QueryFile("database/migrations")

_READS = re.compile(
    r"(?:[\s(]|--[^\n]*(?:\n|$)|/\*.*?\*/)*(?:SELECT|WITH|VALUES|TABLE|EXPLAIN)\b", re.IGNORECASE | re.DOTALL
)

_SHOW_TABLES = (
    "`ramet query 'SELECT table_name, column_name FROM information_schema.columns "
    "WHERE table_schema = current_schema()'` shows the tables and their columns"
)


class _PostgresSchema:
    """What migrations need to know of the server."""

    dialect: Dialect = "postgres"

    def __init__(self, connection: PostgresConnection) -> None:
        self.connection = connection

    def schema_version(self) -> int:
        tables = {row[0] for row in self.connection.all(_sql.tables)}
        return int(self.connection.must(_sql.version)[0]) if "schema_migrations" in tables else 0

    def mark(self) -> None:
        """A server's database is chosen by its name; there is nothing to mark."""


_sizes = QueryFile("database/sizes")


class PostgresStore(Store):
    """A server; each connection of it may write, and the server keeps them apart."""

    dialect: Dialect = "postgres"

    def __init__(
        self, settings: DatabaseSettings, *, lock_file: Path | None, backups: Path, clock: Clock, faults: Faults
    ) -> None:
        if not settings.url:
            raise InvalidSetting(
                "database.url is missing", field="database.url", fix="set it to a URL such as postgres://user@host/name"
            )
        self._url = settings.url
        self._synchronous = settings.durability == "full"
        self._lock = None if lock_file is None else DatabaseLock(lock_file)
        try:
            connection = self.connect()
            try:
                faults.reach("during_recovery")
                schema = _PostgresSchema(connection)
                refuse_altered(connection, "postgres", schema.schema_version())
                self.migrated = migrate(
                    schema,
                    clock=clock,
                    faults=faults,
                    back_up=lambda version: self.back_up_into(backups, f"before-v{version + 1}", clock),
                )
            finally:
                connection.close()
        except BaseException:
            self.close()
            raise

    def describe(self) -> str:
        return f"postgres {hide_password(self._url)}"

    def connect(self) -> PostgresConnection:
        return connect(self._url, synchronous=self._synchronous)

    def connect_reader(self) -> PostgresConnection:
        connection = connect(self._url)
        connection.database.read_only = True
        connection.database.execute("SET default_transaction_read_only = on")
        return connection

    def listen(self) -> News:
        """A connection that receives a notification when others commit."""
        return News(self._url)

    def query(self, sql: str, params: Sequence[object], *, timeout_seconds: int, max_rows: int) -> QueryResult:
        if not _READS.match(sql):
            raise QueryRefused(field="sql", value=sql)
        connection = self.connect_reader()
        try:
            return _run_query(connection, sql, params, timeout_seconds, max_rows)
        finally:
            connection.close()

    def back_up(self, target: Path) -> BackupReport:
        connection = self.connect_reader()
        try:
            version = _PostgresSchema(connection).schema_version()
            export_database(connection, version, target)
        finally:
            connection.close()
        return BackupReport(path=str(target), bytes=target.stat().st_size, schema_version=version)

    def text_rows(self, connection: Connection) -> TextRows:
        assert isinstance(connection, PostgresConnection)  # noqa: S101
        return PostgresTextRows(connection)

    def measure(self) -> dict[str, int]:
        reader = self.connect_reader()
        try:
            return {str(name): int(size) for name, size in reader.all(_sizes.relations)}
        finally:
            reader.close()

    def forget_deleted(self) -> None:
        """The server removes old versions of rows by itself; its files and its log are its administrator's."""

    def erase(self) -> None:
        connection = self.connect()
        try:
            connection.begin()
            for table in known_tables():
                connection.database.execute(SQL("DROP TABLE IF EXISTS {} CASCADE").format(Identifier(table)))
            connection.commit()
        finally:
            connection.close()

    def integrity_parts(self) -> list[str]:
        """The server keeps its own files and references; what is left to check is ours."""
        return []

    def integrity(self, part: str | None = None) -> Iterator[str]:  # noqa: ARG002
        return iter(())

    def close(self) -> None:
        if self._lock is not None:
            self._lock.release()


def _run_query(
    connection: PostgresConnection, sql: str, params: Sequence[object], timeout_seconds: int, max_rows: int
) -> QueryResult:
    database = connection.database
    database.execute("SELECT set_config('statement_timeout', %s, false)", [str(timeout_seconds * 1000)])
    connection.begin_reading()
    try:
        # Prepared, so that the server itself refuses a second statement behind the first.
        cursor = database.execute(_placeholders(sql, len(params)), list(params) or None, prepare=True)
        columns = [column.name for column in cursor.description or ()]
        rows = [list(row) for row in cursor.fetchmany(max_rows + 1)]
    except (psycopg.errors.ReadOnlySqlTransaction, psycopg.errors.InsufficientPrivilege) as error:
        raise QueryRefused(f"only reading is allowed: {error}", field="sql", value=sql) from error
    except (psycopg.errors.SyntaxError, psycopg.ProgrammingError, psycopg.DataError) as error:
        raise QueryFailed(str(error), field="sql", value=sql, fix=_SHOW_TABLES) from error
    except psycopg.Error as error:
        raise translate(error) from error
    return QueryResult(columns=columns, rows=jsonable(rows[:max_rows]), truncated=len(rows) > max_rows)


def _placeholders(sql: str, count: int) -> bytes:
    """`?` as on SQLite becomes psycopg's `%s`; without parameters the text is sent as it is."""
    return sql.replace("%", "%%").replace("?", "%s").encode() if count else sql.encode()
