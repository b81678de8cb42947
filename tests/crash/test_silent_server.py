"""A PostgreSQL server that holds connections open and answers nothing, or not what it is asked for.

Every request is answered in bounded time, with an error that says whether it may have been saved; what was acknowledged
is there once; and everything continues by itself.
"""

import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest
from msgspec.structs import replace
from tests.crash.audit import check_whole
from tests.crash.daemons import Home
from tests.crash.hands import Crew
from tests.crash.waits import wait_for
from tests.crash.workers import has_logged, have_succeeded, work
from tests.postgres_server import PostgresServer

from ramet.client.stop import stop
from ramet.errors import DatabaseBusy, StoreError

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.requirement("R469")]

TIMEOUT_SECONDS = 2
BOUND_SECONDS = 60
"""Ten times as long as the daemon says, for a machine that is busy."""
TRIES = 30_000


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    folder = Path(tempfile.mkdtemp(prefix="ramet-pg-"))
    made = PostgresServer(folder)
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def home(place: Path, server: PostgresServer) -> Iterator[Home]:
    made = Home(place / "home", server.url)
    made.settings = replace(made.settings, database=replace(made.settings.database, timeout_seconds=TIMEOUT_SECONDS))
    yield made
    made.close()


def answered(home_call: Callable[[], Any]) -> tuple[float, Exception | None]:
    """How long a call took, and what it failed with."""
    began = time.monotonic()
    try:
        home_call()
    except StoreError as error:
        return time.monotonic() - began, error
    return time.monotonic() - began, None


def test_a_frozen_server_gives_errors_in_time_and_loses_nothing(home: Home, server: PostgresServer) -> None:
    crew = Crew(6)
    daemon = home.start()
    with daemon.connect() as connection:
        crew.prepare(connection)

    def write_more() -> bool:
        goal = crew.acknowledged() + 60
        return wait_for(lambda: crew.acknowledged() > goal)

    reads: list[tuple[float, Exception | None]] = []

    def read() -> None:
        with daemon.connect() as connection:
            reads.append(answered(lambda: connection.call("fleet.status")))
            reads.append(answered(lambda: connection.call("db.project.list")))
            reads.append(answered(lambda: connection.call("db.query", {"sql": "SELECT 1"})))

    def freeze() -> None:
        assert write_more()
        server.freeze()
        readers = [threading.Thread(target=read) for _ in range(4)]
        for reader in readers:
            reader.start()
        failed = sum(len(hand.typed_failures) for hand in crew.hands)
        assert wait_for(lambda: sum(len(hand.typed_failures) for hand in crew.hands) > failed + len(crew.hands))
        for reader in readers:
            reader.join(BOUND_SECONDS)
        server.thaw()
        assert write_more()

    crew.work(daemon.connect, freeze, tries=TRIES)
    codes = {code for hand in crew.hands for code in hand.typed_failures}
    assert "deadline_exceeded" in codes
    assert codes <= {"deadline_exceeded", "database_unreachable"}
    assert len(reads) == 12
    assert all(isinstance(error, StoreError) and error.is_transient for _, error in reads), reads
    assert max(seconds for seconds, _ in reads) < BOUND_SECONDS
    print(f"reads answered after {max(seconds for seconds, _ in reads):.1f} s at most")
    with daemon.connect() as connection:
        # A process that was refused a moment ago does not ask again at once.
        assert wait_for(lambda: answered(lambda: connection.call("db.query", {"sql": "SELECT 1"}))[1] is None)
        assert check_whole(connection, crew) == crew.acknowledged()


def test_a_daemon_stops_while_its_server_is_frozen(home: Home, server: PostgresServer) -> None:
    daemon = home.start()
    crew = Crew(1)
    with daemon.connect() as connection:
        crew.prepare(connection)
        server.freeze()
        connection.send_raw("db.project.upsert", b'{"path":"/q"}')
        began = time.monotonic()
        assert stop(str(daemon.socket), None, BOUND_SECONDS)
        print(f"stopped after {time.monotonic() - began:.1f} s")
    assert daemon.wait() == 0
    server.thaw()


def test_a_table_that_somebody_locks_gives_a_typed_error(home: Home, server: PostgresServer) -> None:
    daemon = home.start()
    crew = Crew(1)
    with daemon.connect() as connection, psycopg.connect(server.url) as other:
        crew.prepare(connection)
        other.execute("LOCK TABLE efforts IN ACCESS EXCLUSIVE MODE")
        seconds, error = answered(lambda: crew.hands[0].step(connection))
        assert isinstance(error, DatabaseBusy)
        assert seconds < BOUND_SECONDS
        assert isinstance(answered(lambda: connection.call("fleet.status"))[1], DatabaseBusy)
        other.rollback()
        crew.hands[0].step(connection)
        assert check_whole(connection, crew) == crew.acknowledged() == 1


class Fault(NamedTuple):
    """Something that a server does to Ramet for a while, and the error that workers get."""

    begin: str
    end: str
    code: str


FAULTS = [
    Fault("ALTER SYSTEM SET default_transaction_read_only = on", "ALTER SYSTEM RESET ALL", "database_read_only"),
    Fault("ALTER ROLE worker CONNECTION LIMIT 0", "ALTER ROLE worker CONNECTION LIMIT -1", "connections_exhausted"),
    Fault("ALTER ROLE worker NOLOGIN", "ALTER ROLE worker LOGIN", "database_refused"),
    Fault("LOCK TABLE efforts IN ACCESS EXCLUSIVE MODE", "ROLLBACK", "database_busy"),
]
_CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'worker'"


def test_workers_go_on_after_what_a_server_does_for_a_while(place: Path, server: PostgresServer) -> None:
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute("CREATE ROLE worker LOGIN")
        admin.execute("CREATE DATABASE work OWNER worker")
    home = Home(place / "home", psycopg.conninfo.make_conninfo(server.url, user="worker", dbname="work"))
    settings = home.settings
    home.settings = replace(settings, database=replace(settings.database, timeout_seconds=TIMEOUT_SECONDS))
    project = place / "project"
    project.mkdir()
    daemon, ended = home.start(), list[object]()
    with daemon.connect() as connection:
        connection.call("db.project.upsert", {"path": str(project)})
    for number, fault in enumerate(FAULTS):
        with daemon.connect() as connection:
            task = str(project / f"t{number}")
            connection.call("work.add", {"prompt": "echo done", "skill": "do", "task": task, "driver": "shell"})
        where = psycopg.conninfo.make_conninfo(server.url, dbname="work")
        with psycopg.connect(where, autocommit=fault.end != "ROLLBACK") as admin:
            admin.execute(fault.begin.encode())
            if fault.end != "ROLLBACK":
                admin.execute("SELECT pg_reload_conf()")
                admin.execute(_CUT)
            workers = work(daemon, ended)
            if fault.code == "database_refused":
                workers.join(BOUND_SECONDS)
                assert ended == [fault.code]
                ended.clear()
            else:
                assert wait_for(partial(has_logged, home, f"the workers wait for the database error={fault.code}"))
            admin.execute(fault.end.encode())
            if fault.end != "ROLLBACK":
                admin.execute("SELECT pg_reload_conf()")
        if fault.code == "database_refused":
            workers = work(daemon, ended)
        with daemon.connect() as connection:
            assert wait_for(partial(have_succeeded, connection, number + 1))
            assert ended == []
            connection.call("work.stop")
            workers.join(BOUND_SECONDS)
            assert ended == ["stopped"]
            ended.clear()
    home.close()


def test_two_connections_are_enough_to_write_and_to_read(place: Path, server: PostgresServer) -> None:
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute("CREATE ROLE narrow LOGIN CONNECTION LIMIT 2")
        admin.execute("CREATE DATABASE narrow OWNER narrow")
    home = Home(place / "home", psycopg.conninfo.make_conninfo(server.url, user="narrow", dbname="narrow"))
    daemon, crew, reads = home.start(), Crew(4), list[Exception | None]()
    with daemon.connect() as connection:
        crew.prepare(connection)

    def read() -> None:
        goal = crew.acknowledged() + 100
        with daemon.connect() as connection:
            while len(reads) < 20 or crew.acknowledged() < goal:
                reads.append(answered(lambda: connection.call("fleet.status"))[1])
                reads.append(answered(lambda: connection.call("db.project.list"))[1])

    crew.work(daemon.connect, read, tries=TRIES)
    with daemon.connect() as connection:
        assert check_whole(connection, crew) == crew.acknowledged() > 100
    refused = [error for error in reads if error is not None]
    print(f"{len(reads)} reads, {len(refused)} refused; {crew.acknowledged()} writes")
    assert len(refused) < len(reads) / 10
    home.close()
