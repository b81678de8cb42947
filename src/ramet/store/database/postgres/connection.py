"""PostgreSQL through psycopg 3. Every operation runs SERIALIZABLE, so that several daemons may share a database. An
operation that loses a conflict raises `Retry`, and its caller tries again.
"""

from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from ramet.errors import DatabaseReadOnly
from ramet.store.database.connection import Connection, Retry, Row
from ramet.store.database.postgres.server_clock import ServerClock
from ramet.store.database.postgres.sqlstates import translate
from ramet.store.database.queries import Query

__all__ = ["PostgresConnection", "Retry", "connect"]

_LINE = {
    "application_name": "ramet",
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "25000",
}
"""How a connection finds out that the server is gone. By default it would take a quarter of an hour."""

_SESSION = b"""
SET TIME ZONE 'UTC';
SET idle_in_transaction_session_timeout = '10s';
SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3
"""
"""The server finds out too. A host that was cut off in the middle of a transaction holds locks on its efforts, and
holds back everybody's events; a transaction of ours never waits for anything but the server.
"""


_TIME = b"SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"


class PostgresConnection(Connection):
    """One server connection."""

    def __init__(self, database: "psycopg.Connection[Row]", clock: ServerClock | None = None) -> None:
        self.database = database
        self._clock = clock
        self._cursor = database.cursor()
        self._columns: dict[Query, tuple[str, ...]] = {}
        self._is_read_only = False
        """Whether the server has refused to write. It may follow another server now, or only new sessions may write."""

    def all(self, query: Query, **params: Any) -> list[Row]:
        try:
            self._cursor.execute(query.postgres.encode(), params, prepare=True)
            if self._cursor.description is None:
                return []
            self._remember_columns(query)
            return self._cursor.fetchall()
        except psycopg.Error as error:
            raise self.explain(error) from error

    def one(self, query: Query, **params: Any) -> Row | None:
        rows = self.all(query, **params)
        return rows[0] if rows else None

    def columns(self, query: Query) -> tuple[str, ...]:
        return self._columns[query]

    def _remember_columns(self, query: Query) -> None:
        if query not in self._columns and self._cursor.description is not None:
            self._columns[query] = tuple(column.name for column in self._cursor.description)

    def begin(self, *, locks_rows: bool = False) -> None:
        self.measure_clock()
        self._execute(f"BEGIN ISOLATION LEVEL {'READ COMMITTED' if locks_rows else 'SERIALIZABLE'}")

    def begin_reading(self) -> None:
        self.measure_clock()
        self._execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def measure_clock(self, *, always: bool = False) -> None:
        """Compare the server's clock with the machine's, if that was long ago."""
        if self._clock is not None and (always or self._clock.is_stale):
            self._clock.measure(self._ask_time)

    def _ask_time(self) -> int:
        """The server's time in microseconds, now and not at the start of a transaction."""
        try:
            self._cursor.execute(_TIME)
            return int(self._cursor.fetchall()[0][0])
        except psycopg.Error as error:
            raise self.explain(error) from error

    def commit(self) -> None:
        self._execute("COMMIT")

    def rollback(self) -> None:
        if not self.database.closed and self.database.info.transaction_status != 0:
            self._execute("ROLLBACK")

    def close(self) -> None:
        self.database.close()

    @property
    def is_broken(self) -> bool:
        return self.database.broken or self.database.closed or self._is_read_only

    def explain(self, error: psycopg.Error) -> Exception:
        """An error of this connection as ours."""
        is_standby = not self.database.closed and self.database.info.parameter_status("in_hot_standby") == "on"
        found = translate(error, is_standby=is_standby)
        self._is_read_only = self._is_read_only or isinstance(found, DatabaseReadOnly)
        return found

    def _execute(self, statement: str) -> None:
        try:
            self._cursor.execute(statement.encode())
        except psycopg.Error as error:
            raise self.explain(error) from error


def connect(url: str, *, synchronous: bool = True, clock: ServerClock | None = None) -> PostgresConnection:
    """A connection in autocommit, because transactions are started explicitly here. The url may say otherwise. A clock
    that is given follows the server's.
    """
    try:
        database = psycopg.connect(autocommit=True, **{**_LINE, **conninfo_to_dict(url)})  # type: ignore[arg-type]
        database.execute(_SESSION)
        if not synchronous:
            database.execute("SET synchronous_commit = off")
    except psycopg.Error as error:
        raise translate(error) from error
    connection = PostgresConnection(database, clock)
    connection.measure_clock()
    return connection
