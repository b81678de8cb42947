"""PostgreSQL through psycopg 3. Every operation runs SERIALIZABLE, so that several daemons may share a database. An
operation that loses a conflict raises `Retry`, and its caller tries again.
"""

import os
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

from ramet.errors import DatabaseDamaged, DatabaseReadOnly, DeadlineExceeded
from ramet.store.database.connection import Connection, Retry, Row
from ramet.store.database.postgres.contact import Contact
from ramet.store.database.postgres.server_clock import ServerClock
from ramet.store.database.postgres.sqlstates import translate
from ramet.store.database.postgres.statement_watch import StatementWatch
from ramet.store.database.queries import Query

__all__ = ["Patience", "PostgresConnection", "Retry", "connect"]

_LINE = {
    "application_name": "ramet",
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "25000",
}
"""How a connection finds out that the server is gone. By default it would take a quarter of an hour."""

_SESSION = """
SET statement_timeout = '{statement}s'; SET lock_timeout = '{lock}s';
SET TIME ZONE 'UTC';
SET idle_in_transaction_session_timeout = '10s';
SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3
"""
"""The server finds out too. A host that was cut off in the middle of a transaction holds locks on its efforts, and
holds back everybody's events; a transaction of ours never waits for anything but the server. The limits of statements
are ours, not those that the role has for other programs.
"""


_TIME = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"


_NEW_SECONDS = 0.5


class Patience(NamedTuple):
    """How long a connection waits, in seconds."""

    statement: int
    """For the end of a statement, by the server's own clock; 0 for as long as it takes."""
    lock: int
    """For a lock that somebody else holds, by the server's own clock."""
    silence: int
    """For a server that says nothing at all."""
    is_long: bool = False
    """Whether a server that answers others may take longer."""


_USUAL = Patience(statement=20, lock=10, silence=22)


_FLUSHING = """
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
"""
"""A server or a role may say that a commit is answered before it is on the disk. Stricter settings stay."""


class PostgresConnection(Connection):
    """One server connection."""

    waits_since: float | None = None

    def __init__(
        self,
        database: "psycopg.Connection[Row]",
        clock: ServerClock | None = None,
        patience: Patience = _USUAL,
        watch: StatementWatch | None = None,
    ) -> None:
        self.database = database
        self.silence_seconds = float(patience.silence)
        self.is_patient = patience.is_long
        self._was_cut = self._is_released = False
        self._opened_at = time.monotonic()
        # libpq closes its own descriptor when it likes, and the number may then be another file's.
        self._socket = socket.socket(fileno=os.dup(database.fileno()))
        self._watch = watch
        if watch is not None:
            watch.add(self)
        self._clock = clock
        self.contact: Contact | None = None
        """Whether this daemon hears from the server; None if nobody listens to it."""
        self._cursor = database.cursor()
        self._columns: dict[Query, tuple[str, ...]] = {}
        self._is_read_only = False
        """Whether the server has refused to write. It may follow another server now, or only new sessions may write."""

    def all(self, query: Query, **params: Any) -> list[Row]:
        before, self.waits_since = self.waits_since, time.monotonic()
        try:
            self._cursor.execute(query.postgres.encode(), params, prepare=True)
            if self._cursor.description is None:
                return []
            self._remember_columns(query)
            return self._cursor.fetchall()
        except psycopg.Error as error:
            raise self.explain(error) from error
        finally:
            self.waits_since = before

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

    def start_session(self, patience: Patience, *, synchronous: bool) -> None:
        """Set what every session of ours needs."""
        self._execute(_SESSION.format(statement=patience.statement, lock=patience.lock))
        self._execute(_FLUSHING if synchronous else "SET synchronous_commit = off")

    def _ask_time(self) -> int:
        """The server's time in microseconds, now and not at the start of a transaction."""
        self._execute(_TIME)
        return int(self._cursor.fetchall()[0][0])

    def commit(self) -> None:
        self._execute("COMMIT")

    def rollback(self) -> None:
        if not self.database.closed and self.database.info.transaction_status != 0:
            self._execute("ROLLBACK")

    def close(self) -> None:
        if self._watch is not None:
            self._watch.remove(self)
        self.database.close()
        self._socket.close()

    def cut(self) -> None:
        """End the wait of the thread that uses it; the connection is broken then."""
        self._was_cut = True
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def release(self) -> None:
        """End it if it is not in use, from another thread. A statement that begins just now fails before it is sent."""
        is_new = time.monotonic() - self._opened_at < _NEW_SECONDS  # and about to be used
        if not is_new and self.waits_since is None and self.database.info.transaction_status == TransactionStatus.IDLE:
            self._is_released = True
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Have everything that is done meanwhile watched as one statement."""
        self.waits_since = time.monotonic()
        try:
            yield
        finally:
            self.waits_since = None

    @property
    def is_broken(self) -> bool:
        return self.database.broken or self.database.closed or self._is_read_only or self._is_released

    @property
    def is_out_of_touch(self) -> bool:
        return self.contact is not None and self.contact.is_lost

    def explain(self, error: psycopg.Error) -> Exception:
        """An error of this connection as ours."""
        if self._was_cut:
            return DeadlineExceeded(
                f"the PostgreSQL server did not answer within {self.silence_seconds:g} seconds; "
                "nothing of this request was saved"
            )
        is_standby = not self.database.closed and self.database.info.parameter_status("in_hot_standby") == "on"
        found = translate(error, is_standby=is_standby)
        self._is_read_only = self._is_read_only or isinstance(found, DatabaseReadOnly)
        if isinstance(found, DatabaseDamaged) and self.signs is not None:
            self.signs.note(found)
        return found

    def _execute(self, statement: str) -> None:
        before, self.waits_since = self.waits_since, time.monotonic()
        try:
            self._cursor.execute(statement.encode())
        except psycopg.Error as error:
            raise self.explain(error) from error
        finally:
            self.waits_since = before


def connect(
    url: str | Mapping[str, Any],
    *,
    synchronous: bool = True,
    clock: ServerClock | None = None,
    patience: Patience = _USUAL,
    watch: StatementWatch | None = None,
) -> PostgresConnection:
    """A connection in autocommit, because transactions are started explicitly here. The url may say otherwise. A clock
    that is given follows the server's.
    """
    given = conninfo_to_dict(url) if isinstance(url, str) else url
    try:
        database = psycopg.connect(autocommit=True, **{**_LINE, **given})
    except psycopg.Error as error:
        raise translate(error) from error
    connection = PostgresConnection(database, clock, patience, watch)
    try:
        connection.start_session(patience, synchronous=synchronous)
        connection.measure_clock()
    except BaseException:
        connection.close()
        raise
    return connection
