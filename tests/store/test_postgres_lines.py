"""A PostgreSQL server and its clients notice when the other side is gone, in bounded time."""

import threading
import time
from queue import SimpleQueue

import psycopg
import pytest

from ramet.errors import ConnectionsExhausted, DatabaseUnreachable
from ramet.store.database.postgres.connection import Patience, connect
from ramet.store.database.postgres.server import Server
from ramet.store.database.postgres.statement_watch import StatementWatch
from ramet.store.database.queries import Query

ONE = Query("one", "SELECT 1", "SELECT 1")


def setting(url: str, name: str) -> str:
    connection = connect(url)
    row = connection.database.execute(f"SHOW {name}".encode()).fetchone()
    connection.close()
    assert row is not None
    return str(row[0])


@pytest.mark.requirement("R310")
def test_a_transaction_that_its_client_left_open_lets_go_of_its_locks(postgres_url: str) -> None:
    assert setting(postgres_url, "idle_in_transaction_session_timeout") == "10s"
    left, other = connect(postgres_url), connect(postgres_url)
    left.database.execute("SET idle_in_transaction_session_timeout = '200ms'")
    left.begin()
    left.database.execute("SELECT pg_advisory_xact_lock(42)")
    began = time.monotonic()
    other.database.execute("SELECT pg_advisory_xact_lock(42)")
    assert 0.1 < time.monotonic() - began < 10
    with pytest.raises(DatabaseUnreachable):
        left.all(ONE)
    assert left.is_broken
    left.close()
    other.close()


def test_what_the_url_says_of_its_connection_counts(postgres_url: str) -> None:
    connection = connect(postgres_url)
    assert connection.database.info.get_parameters()["tcp_user_timeout"] == "25000"
    connection.close()
    connection = connect(f"{postgres_url}&tcp_user_timeout=1234&application_name=mine")
    known = connection.database.info.get_parameters()
    assert (known["tcp_user_timeout"], known["application_name"]) == ("1234", "mine")
    connection.close()


@pytest.mark.requirement("R469")
def test_the_limits_of_a_role_do_not_count(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute("CREATE ROLE hurried LOGIN")
        server.execute("ALTER ROLE hurried SET statement_timeout = '5ms'")
        server.execute("ALTER ROLE hurried SET lock_timeout = '5ms'")
    url = psycopg.conninfo.make_conninfo(postgres_url, user="hurried")
    try:
        connection = connect(url, patience=Patience(statement=30, lock=15, silence=40))
        found = [
            connection.all(Query("show", "", f"SHOW {name}"))[0][0] for name in ("statement_timeout", "lock_timeout")
        ]
        assert found == ["30s", "15s"]
        connection.all(Query("sleep", "", "SELECT pg_sleep(0.05)"))
        connection.close()
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as server:
            server.execute("DROP ROLE hurried")


@pytest.mark.requirement("R469")
@pytest.mark.parametrize(("given", "settled"), [("off", "on"), ("remote_apply", "remote_apply")])
def test_a_commit_is_on_the_disk_before_it_is_answered_whatever_the_server_is_set_to(
    postgres_url: str, given: str, settled: str
) -> None:
    url = f"{postgres_url}%20-csynchronous_commit%3D{given}"
    connection = connect(url)
    assert connection.database.execute("SHOW synchronous_commit").fetchone() == (settled,)
    connection.close()


@pytest.mark.requirement("R469")
def test_of_several_servers_the_one_that_can_be_written_to_is_meant() -> None:
    def attributes(url: str) -> object:
        return Server(url, 20).line.get("target_session_attrs")

    assert attributes("postgres://a@one,two/b") == "read-write"
    assert attributes("postgres://a@one,two/b?target_session_attrs=any") == "any"
    assert attributes("postgres://a@one/b") is None


class Waiting:
    """A connection that waits for a server, as far as the watch is concerned."""

    def __init__(self, *, is_patient: bool) -> None:
        self.waits_since: float | None = 0.0
        self.silence_seconds = 1.0
        self.is_patient = is_patient
        self.was_cut = threading.Event()

    def cut(self) -> None:
        self.waits_since = None
        self.was_cut.set()

    def release(self) -> None:
        raise NotImplementedError


@pytest.mark.requirement("R469")
def test_a_long_statement_is_cut_only_if_the_server_answers_nobody() -> None:
    asked: SimpleQueue[bool] = SimpleQueue()
    answers = iter([True])

    def probe() -> bool:
        asked.put(item=True)
        return next(answers, False)

    watch = StatementWatch(probe)
    long, short, idle = Waiting(is_patient=True), Waiting(is_patient=False), Waiting(is_patient=False)
    idle.waits_since = None
    for each in (long, short, idle):
        watch.add(each)
    assert asked.get(timeout=60)
    assert short.was_cut.wait(60)
    assert not long.was_cut.is_set()
    watch.hurry()
    assert long.was_cut.wait(60)
    assert watch.is_given_up
    assert not idle.was_cut.is_set()
    watch.close()


@pytest.mark.requirement("R469")
def test_a_connection_that_is_not_in_use_makes_room_for_another(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("CREATE ROLE narrow LOGIN CONNECTION LIMIT 2")
    server = Server(psycopg.conninfo.make_conninfo(postgres_url, user="narrow"), 20)
    try:
        idle, busy = server.connect(), server.connect()
        busy.begin()
        was_scarce = server.is_scarce
        third = server.connect()
        assert (was_scarce, server.is_scarce) == (False, True)
        assert [each.is_broken for each in (idle, busy, third)] == [True, False, False]
        assert busy.all(ONE) == third.all(ONE) == [(1,)]
        with pytest.raises(ConnectionsExhausted):
            server.connect_to_listen()
        third.begin()
        with pytest.raises(ConnectionsExhausted, match="too many connections"):
            server.connect()
        for each in (idle, busy, third):
            each.close()
    finally:
        server.close()
        with psycopg.connect(postgres_url, autocommit=True) as admin:
            admin.execute("DROP ROLE narrow")
