"""A hot standby of PostgreSQL, as a failover leaves it: a daemon reads from it, and writes once it is promoted."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import psycopg
import pytest
from msgspec.structs import replace
from tests.crash.daemons import Home, ask
from tests.crash.hands import Crew
from tests.crash.waits import wait_for
from tests.crash.workers import count_efforts, crew_efforts, has_logged, have_succeeded, work
from tests.postgres_server import PostgresServer

from ramet.client.connection import Connection
from ramet.errors import DatabaseReadOnly, DatabaseUnreachable, StoreError

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.requirement("R469")]

TIMEOUT_SECONDS = 5
BOUND_SECONDS = 60
READS = ["fleet.status", "db.project.list", "work.list"]


class Pair(NamedTuple):
    """A server, its standby, and the address that clients know."""

    primary: PostgresServer
    standby: PostgresServer
    address: Path

    @property
    def url(self) -> str:
        return f"postgresql://postgres:@/postgres?host={quote(str(self.address))}"

    def fail_over(self) -> None:
        """Let the standby have everything, end the server, and give its address to the standby."""
        with psycopg.connect(self.primary.url) as here, psycopg.connect(self.standby.url, autocommit=True) as there:
            (end,) = here.execute("SELECT pg_current_wal_insert_lsn()").fetchone() or ("",)
            assert wait_for(
                lambda: there.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", [end]).fetchone() == (True,)
            )
        self.primary.stop("immediate")
        self.address.unlink()
        self.address.symlink_to(self.standby.socket_folder)

    def promote(self) -> None:
        with psycopg.connect(self.standby.url) as admin:
            assert admin.execute("SELECT pg_promote()").fetchone() == (True,)


@pytest.fixture
def pair() -> Iterator[Pair]:
    folder = Path(tempfile.mkdtemp(prefix="ramet-pg-"))
    primary = PostgresServer(folder)
    servers = [primary]
    try:
        standby = primary.make_standby(folder / "standby")
        servers.append(standby)
        made = Pair(primary, standby, folder / "now")
        made.address.symlink_to(primary.socket_folder)
        yield made
    finally:
        for each in servers:
            each.close()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def home(place: Path, pair: Pair) -> Iterator[Home]:
    made = Home(place / "home", pair.url)
    settings = made.settings
    made.settings = replace(settings, database=replace(settings.database, timeout_seconds=TIMEOUT_SECONDS))
    yield made
    made.close()


def refusal(connection: Connection, operation: str) -> StoreError | None:
    """What the daemon answers instead of a reply. It may say that it lost the server, and nothing else."""
    try:
        connection.call(operation)
    except DatabaseUnreachable as error:
        return error
    return None


def can_write(connection: Connection) -> bool:
    with suppress(DatabaseReadOnly):
        connection.call("db.project.upsert", {"path": "/q"})
        return True
    return False


def test_a_daemon_reads_from_a_standby_and_writes_once_it_is_promoted(home: Home, place: Path, pair: Pair) -> None:
    crew, ended, project = Crew(1), list[object](), place / "project"
    project.mkdir()
    daemon = home.start()
    with daemon.connect() as connection:
        crew.prepare(connection)
        for _ in range(20):
            crew.hands[0].step(connection)
        connection.call("db.project.upsert", {"path": str(project)})
        added = {"prompt": "echo done", "skill": "do", "task": str(project / "t"), "driver": "shell"}
        connection.call("work.add", added)
        pair.fail_over()
        for operation in READS:
            assert wait_for(lambda: refusal(connection, operation) is None)  # noqa: B023
        assert ask(connection, "SELECT count(*) FROM projects") == [[2]]
        with pytest.raises(DatabaseReadOnly):
            crew.hands[0].step(connection)
        workers = work(daemon, ended)
        assert wait_for(lambda: has_logged(home, "the workers wait for the database error=database_read_only"))
        pair.promote()
        assert wait_for(lambda: have_succeeded(connection, 1, "do"))
        crew.hands[0].step(connection, tries=BOUND_SECONDS * 10)
        connection.call("work.stop")
        workers.join(BOUND_SECONDS)
        assert ended == ["stopped"]
        assert count_efforts(connection) == crew_efforts(crew) == 2
    home.close()


def test_a_daemon_that_starts_on_a_standby_answers_reads(home: Home, pair: Pair) -> None:
    with home.start().connect() as connection:
        connection.call("db.project.upsert", {"path": "/p"})
    home.close()
    pair.fail_over()
    with home.start().connect() as connection:
        assert ask(connection, "SELECT count(*) FROM projects") == [[1]]
        with pytest.raises(DatabaseReadOnly, match="read-only"):
            connection.call("db.project.upsert", {"path": "/q"})
        pair.promote()
        assert wait_for(lambda: can_write(connection))
