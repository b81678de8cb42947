"""What each error of a database is for Ramet: both tables row by row, and errors that the databases really raise."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import psycopg
import pytest

from ramet.errors import (
    BY_CODE,
    EXIT_STORE,
    ConnectionsExhausted,
    DatabaseAltered,
    DatabaseBusy,
    DatabaseReadOnly,
    DatabaseRefused,
    DatabaseUnreachable,
    StatementFailed,
    StatementStopped,
    StorageFailed,
    StoreError,
)
from ramet.store.database.connection import Connection, Retry
from ramet.store.database.postgres import sqlstates
from ramet.store.database.postgres.connection import connect
from ramet.store.database.queries import Query
from ramet.store.database.sqlite import result_codes
from ramet.store.database.sqlite.connection import open_reader, open_writer

pytestmark = pytest.mark.requirement("R469")


def query(sql: str) -> Query:
    return Query("of a test", sql, sql)


def test_every_row_has_a_code_an_exit_status_and_a_fix() -> None:
    rows = [*sqlstates.FAILURES.items(), *result_codes.FAILURES.items()]
    assert len(rows) > 40
    for name, row in rows:
        error = row.error("its own\n  words")
        assert BY_CODE[error.code] is row.kind, name
        assert error.exit_status == EXIT_STORE, name
        assert error.message == f"{row.says}: its own words", name
        assert error.fix != StoreError.hint, name


def test_a_server_gives_the_error_of_each_row(postgres_url: str) -> None:
    connection = connect(postgres_url)
    for code, row in sqlstates.FAILURES.items():
        state = f"{code}000"[:5] if len(code) == 2 else code
        with pytest.raises(row.kind, match="the words of the server") as failed:
            connection.all(query(f"DO $$ BEGIN RAISE 'the words of the server' USING ERRCODE = '{state}'; END $$"))
        assert failed.value.message.startswith(row.says), code
    for code in sqlstates.RETRIED:
        with pytest.raises(Retry):
            connection.all(query(f"DO $$ BEGIN RAISE 'lost' USING ERRCODE = '{code}'; END $$"))
    connection.close()


def sqlite_error(code: int) -> apsw.Error:
    error = apsw.exception_for(code)
    assert isinstance(error, apsw.Error)
    return error


def test_sqlite_gives_the_error_of_each_row() -> None:
    for code, row in result_codes.FAILURES.items():
        found = result_codes.translate(sqlite_error(code))
        assert type(found) is row.kind, code
        assert found.message.startswith(row.says), code
    assert type(result_codes.translate(sqlite_error(apsw.SQLITE_IOERR_FSYNC))) is StorageFailed
    assert type(result_codes.translate(sqlite_error(apsw.SQLITE_BUSY_SNAPSHOT))) is DatabaseBusy


@contextmanager
def role(server: str, *settings: str) -> Iterator[str]:
    """The url of a role of its own, which may log in."""
    with psycopg.connect(server, autocommit=True) as database:
        database.execute("CREATE ROLE r469 LOGIN")
        for setting in settings:
            database.execute(f"ALTER ROLE r469 {setting}".encode())
        yield psycopg.conninfo.make_conninfo(server, user="r469")
        database.execute("DROP ROLE r469")


@pytest.mark.parametrize(
    ("prepare", "statement", "kind"),
    [
        ("SET statement_timeout = '20ms'", "SELECT pg_sleep(20)", StatementStopped),
        ("SET lock_timeout = '20ms'", "SELECT * FROM held", DatabaseBusy),
        ("SET default_transaction_read_only = on", "CREATE TABLE more ()", DatabaseReadOnly),
        ("SELECT 1", "SELECT * FROM nowhere", DatabaseAltered),
        ("SELECT 1", "SELECT nothing FROM free", DatabaseAltered),
        ("SELECT 1", "INSERT INTO free VALUES (-1)", StatementFailed),
        ("SELECT 1", "SELECT pg_terminate_backend(pg_backend_pid())", DatabaseUnreachable),
    ],
)
def test_what_a_server_does_to_a_statement(
    postgres_url: str, prepare: str, statement: str, kind: type[StoreError]
) -> None:
    holder, connection = connect(postgres_url), connect(postgres_url)
    holder.database.execute("CREATE TABLE free (number int CHECK (number > 0)); CREATE TABLE held ()")
    holder.begin()
    holder.database.execute("LOCK TABLE held")
    connection.database.execute(prepare.encode())
    with pytest.raises(kind) as failed:
        connection.all(query(statement))
    assert type(failed.value) is kind
    assert connection.is_broken == (kind in (DatabaseUnreachable, DatabaseReadOnly))
    holder.close()
    connection.close()


def test_a_cancelled_statement_may_be_tried_again(postgres_url: str) -> None:
    connection = connect(postgres_url)
    threading.Timer(0.2, connection.database.cancel).start()
    with pytest.raises(StatementStopped, match="user request"):
        connection.all(query("SELECT pg_sleep(60)"))
    assert connection.all(query("SELECT 1")) == [(1,)]
    connection.close()


def test_what_a_server_refuses_at_the_door(postgres_server: str) -> None:
    def refused(url: str) -> type[Exception]:
        with pytest.raises(StoreError) as failed:
            connect(url)
        return type(failed.value)

    make = psycopg.conninfo.make_conninfo
    assert refused(make(postgres_server, dbname="nowhere")) is DatabaseRefused
    assert refused(make(postgres_server, user="nobody_at_all")) is DatabaseRefused
    with role(postgres_server, "CONNECTION LIMIT 1") as url:
        held = connect(url)
        assert refused(url) is ConnectionsExhausted
        held.close()
    with role(postgres_server, "NOLOGIN") as url:
        assert refused(url) is DatabaseRefused
    assert refused("postgresql://a@127.0.0.1:1/b") is DatabaseUnreachable


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("SELECT * FROM nowhere", DatabaseAltered),
        ("SELECT other FROM t", DatabaseAltered),
        ("INSERT INTO t VALUES (1)", StatementFailed),
        ("INSERT INTO t SELECT zeroblob(2000000)", StatementFailed),
        ("INSERT INTO t SELECT zeroblob(900000)", StorageFailed),
    ],
)
def test_what_sqlite_does_to_a_statement(tmp_path: Path, statement: str, kind: type[StoreError]) -> None:
    connection = open_writer(tmp_path / "a.db", "process")
    connection.all(query("CREATE TABLE t (a UNIQUE)"))
    connection.all(query("INSERT INTO t VALUES (1)"))
    connection.database.limit(apsw.SQLITE_LIMIT_LENGTH, 1_000_000)
    connection.database.pragma("max_page_count", 100)
    with pytest.raises(kind) as failed:
        connection.all(query(statement))
    assert type(failed.value) is kind
    connection.close()


def test_what_sqlite_finds_locked_read_only_or_gone(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    writer, other = open_writer(path, "process"), open_writer(path, "process")
    reader = open_reader(path)
    writer.begin()
    other.database.set_busy_timeout(1)
    with pytest.raises(DatabaseBusy):
        other.begin()
    with pytest.raises(DatabaseReadOnly):
        reader.all(query("CREATE TABLE t (a)"))
    with pytest.raises(DatabaseUnreachable):
        open_reader(tmp_path / "gone" / "a.db")
    for each in (writer, other, reader):
        each.close()


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_what_no_table_has_is_said_and_logged(
    dialect: str, tmp_path: Path, request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture
) -> None:
    open_one: Callable[[], Connection] = {
        "sqlite": lambda: open_writer(tmp_path / "a.db", "process"),
        "postgres": lambda: connect(request.getfixturevalue("postgres_url")),
    }[dialect]
    connection = open_one()
    with caplog.at_level(logging.ERROR), pytest.raises(StatementFailed, match="syntax") as failed:
        connection.all(query("SELEKT 1"))
    assert not failed.value.is_transient
    assert "SELEKT" in caplog.text
    connection.close()
