"""The store on a PostgreSQL server."""

import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from ramet.clock import Clock
from ramet.config.secrets import hide_password
from ramet.config.settings import OTHER_CONNECTIONS, DatabaseSettings
from ramet.errors import InvalidSetting, QueryFailed, QueryRefused, QueryTimeout
from ramet.faults import Faults
from ramet.protocol.system.daemon import ClockSkew
from ramet.protocol.system.database import BackupReport, QueryResult
from ramet.store.database.connection import Connection
from ramet.store.database.damage_signs import DamageSigns
from ramet.store.database.lock import DatabaseLock
from ramet.store.database.postgres.catalog import find_differences
from ramet.store.database.postgres.connection import PostgresConnection
from ramet.store.database.postgres.export import export_database, known_tables
from ramet.store.database.postgres.news import News
from ramet.store.database.postgres.server import Server
from ramet.store.database.postgres.text_rows import PostgresTextRows
from ramet.store.database.queries import QueryFile
from ramet.store.database.schema.foreign import refuse_altered
from ramet.store.database.schema.migrations import Dialect, migrate
from ramet.store.database.sqlite.query import QueryPage
from ramet.store.database.store import QueryBounds, ReadableStore, Store
from ramet.store.database.text_rows import TextRows

_sql = QueryFile("database/migrations")

_READS = re.compile(
    r"(?:[\s(]|--[^\n]*(?:\n|$)|/\*.*?\*/)*(?:SELECT|WITH|VALUES|TABLE|EXPLAIN)\b", re.IGNORECASE | re.DOTALL
)

_SHOW_TABLES = (
    "`ramet query 'SELECT table_name, column_name FROM information_schema.columns "
    "WHERE table_schema = current_schema()'` shows the tables and their columns"
)


_EXPLAINS = re.compile(r"(?:[\s(]|--[^\n]*(?:\n|$)|/\*.*?\*/)*EXPLAIN\b", re.IGNORECASE | re.DOTALL)
"""What a cursor of the server cannot be declared for. Its rows are few."""

_WRITES = (
    psycopg.errors.ReadOnlySqlTransaction,
    psycopg.errors.InsufficientPrivilege,
    psycopg.errors.FeatureNotSupported,
)
"""How the server refuses to write; a cursor is not declared for a statement that does."""

_FETCHED_BYTES = 1024 * 1024


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

    def differences(self, version: int) -> list[str]:
        return find_differences(self.connection, version)


_sizes = QueryFile("database/sizes")


class PostgresReadableStore(ReadableStore):
    """A server, as those who only read see it."""

    dialect: Dialect = "postgres"
    has_few_connections = True

    def __init__(self, settings: DatabaseSettings) -> None:
        if not settings.url:
            raise InvalidSetting(
                "database.url is missing", field="database.url", fix="set it to a URL such as postgres://user@host/name"
            )
        self._url = settings.url
        self.timeout_seconds = settings.timeout_seconds
        is_synchronous = settings.durability == "full"
        self._server = Server(settings.url, settings.timeout_seconds, synchronous=is_synchronous)
        self._is_long = True
        """Whether reads may take long: in the processes that do nothing else."""
        self.signs = DamageSigns()

    @property
    def is_scarce(self) -> bool:
        return self._server.is_scarce

    def describe(self) -> str:
        return f"postgres {hide_password(self._url)}"

    def clock(self, own: Clock) -> Clock:  # noqa: ARG002
        """The server's: several hosts share it."""
        return self._server.clock

    def clock_skew(self) -> ClockSkew | None:
        return self._server.clock.skew()

    def connect_reader(self) -> PostgresConnection:
        return self._watched(self._server.connect_reader(is_long=self._is_long))

    def _watched(self, connection: PostgresConnection) -> PostgresConnection:
        """The connection, which notes signs of damage."""
        connection.signs = self.signs
        return connection

    def query(self, sql: str, params: Sequence[object], bounds: QueryBounds) -> QueryResult:
        if not _READS.match(sql):
            raise QueryRefused(field="sql", value=sql)
        connection = self.connect_reader()
        try:
            with connection.waiting():
                return _run_query(connection, sql, params, bounds)
        finally:
            connection.close()

    def back_up(self, target: Path) -> BackupReport:
        connection = self.connect_reader()
        try:
            version = _PostgresSchema(connection).schema_version()
            with connection.waiting():
                export_database(connection, version, target)
        finally:
            connection.close()
        return BackupReport(path=str(target), bytes=target.stat().st_size, schema_version=version)

    def measure(self) -> dict[str, int]:
        reader = self.connect_reader()
        try:
            return {str(name): int(size) for name, size in reader.all(_sizes.relations)}
        finally:
            reader.close()

    def schema_differences(self) -> list[str]:
        reader = self.connect_reader()
        try:
            schema = _PostgresSchema(reader)
            return schema.differences(schema.schema_version())
        finally:
            reader.close()

    def integrity_parts(self) -> list[str]:
        """The server keeps its own files and references; what is left to check is ours."""
        return []

    def integrity(self, part: str | None = None) -> Iterator[str]:  # noqa: ARG002
        return iter(())


class PostgresStore(PostgresReadableStore, Store):
    """A server; each connection of it may write, and the server keeps them apart."""

    def __init__(
        self, settings: DatabaseSettings, *, lock_file: Path | None, backups: Path, clock: Clock, faults: Faults
    ) -> None:
        super().__init__(settings)
        self._is_long = False
        self._lock = None if lock_file is None else DatabaseLock(lock_file)
        try:
            connection = self._server.connect_to_migrate()
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
                needed = settings.pool_size + OTHER_CONNECTIONS
                self._server.learn_limit(int(connection.must(_sizes.connections)[0]), needed)
            finally:
                connection.close()
        except BaseException:
            self.close()
            raise

    def connect(self) -> PostgresConnection:
        return self._watched(self._server.connect())

    def connect_for_long(self) -> PostgresConnection:
        """One for changes that may take long."""
        return self._watched(self._server.connect(is_long=True))

    def note_scarcity(self) -> None:
        self._server.note_scarcity()

    def hurry(self) -> None:
        self._server.watch.hurry()

    def listen(self) -> News:
        """A connection that receives a notification when others commit."""
        return News(self._server.connect_to_listen(), self._server.contact)

    def text_rows(self, connection: Connection) -> TextRows:
        assert isinstance(connection, PostgresConnection)  # noqa: S101
        return PostgresTextRows(connection)

    def forget_deleted(self) -> None:
        """The server removes old versions of rows by itself; its files and its log are its administrator's."""

    def erase(self) -> None:
        connection = self._server.connect_to_migrate()
        try:
            connection.begin()
            for table in known_tables():
                connection.database.execute(SQL("DROP TABLE IF EXISTS {} CASCADE").format(Identifier(table)))
            connection.commit()
        finally:
            connection.close()

    def close(self) -> None:
        self._server.close()
        if self._lock is not None:
            self._lock.release()


def _run_query(connection: PostgresConnection, sql: str, params: Sequence[object], bounds: QueryBounds) -> QueryResult:
    database = connection.database
    database.execute("SELECT set_config('statement_timeout', %s, false)", [str(bounds.timeout_seconds * 1000)])
    connection.begin_reading()
    page = QueryPage(bounds, sql)
    deadline = time.monotonic() + bounds.timeout_seconds
    try:
        with _open_cursor(database, sql, params, bounds.skip) as cursor:
            columns = [column.name for column in cursor.description or ()]
            while _fetch(cursor, page):
                if time.monotonic() > deadline:  # the server counts from each fetch
                    message = f"the query took longer than {bounds.timeout_seconds} seconds"
                    raise QueryTimeout(message, field="sql", value=sql)
    except _WRITES as error:
        raise QueryRefused(f"only reading is allowed: {error}", field="sql", value=sql) from error
    except psycopg.errors.QueryCanceled as error:
        message = f"the query took longer than {bounds.timeout_seconds} seconds, or an administrator stopped it"
        raise QueryTimeout(message, field="sql", value=sql) from error
    except (psycopg.errors.SyntaxError, psycopg.ProgrammingError, psycopg.DataError) as error:
        raise QueryFailed(str(error), field="sql", value=sql, fix=_SHOW_TABLES) from error
    except psycopg.Error as error:
        raise connection.explain(error) from error
    return page.result(columns)


def _open_cursor(database: "psycopg.Connection[Any]", sql: str, params: Sequence[object], skip: int) -> Any:
    """Both kinds of cursor prepare the statement, so that the server itself refuses a second one behind it."""
    statement, values = _placeholders(sql, len(params)), list(params) or None
    if _EXPLAINS.match(sql):
        return database.execute(statement, values, prepare=True)
    cursor = database.cursor(name="query")
    try:
        cursor.execute(statement, values)
        if skip:
            cursor.scroll(skip)
    except BaseException:
        cursor.close()
        raise
    return cursor


def _fetch(cursor: Any, page: QueryPage) -> bool:
    """Fetch some rows: at first one, and then about as many as make a mebibyte. Whether there may be more."""
    count = max(1, min(2 * len(page), _FETCHED_BYTES * len(page) // max(page.size, 1)))
    rows = cursor.fetchmany(count)
    return all(page.add(row) for row in rows) and len(rows) == count


def _placeholders(sql: str, count: int) -> bytes:
    """`?` as on SQLite becomes psycopg's `%s`; without parameters the text is sent as it is."""
    return sql.replace("%", "%%").replace("?", "%s").encode() if count else sql.encode()
