"""A PostgreSQL server that crashes and comes back while clients write. Nothing acknowledged is lost or there twice."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.crash.audit import check_whole
from tests.crash.daemons import Home
from tests.crash.hands import Crew
from tests.crash.waits import wait_for
from tests.postgres_server import PostgresServer

TRIES = 30_000
"""How often a hand repeats one request, every hundredth of a second: longer than a server needs to recover."""
CRASHES = 3


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """A server whose commits survive its own crash."""
    folder = Path(tempfile.mkdtemp(prefix="ramet-pg-"))
    made = PostgresServer(folder, "fsync = off")
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def home(place: Path, server: PostgresServer) -> Iterator[Home]:
    made = Home(place / "home", server.url)
    yield made
    made.close()


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.requirement("R293")
def test_a_server_that_crashes_again_and_again_loses_nothing_that_was_acknowledged(
    home: Home, server: PostgresServer
) -> None:
    crew = Crew(6)
    daemon = home.start()
    with daemon.connect() as connection:
        crew.prepare(connection)

    def write_more() -> bool:
        goal = crew.acknowledged() + 200
        return wait_for(lambda: crew.acknowledged() > goal)

    def crash() -> None:
        for number in range(CRASHES):
            assert write_more(), f"nobody writes before crash {number}"
            server.stop("immediate")
            server.start()
        assert write_more(), "the clients do not write again"

    crew.work(daemon.connect, crash, tries=TRIES)
    assert {code for hand in crew.hands for code in hand.typed_failures} == {"database_unreachable"}
    with daemon.connect() as connection:
        writes = check_whole(connection, crew)
    print(f"{CRASHES} crashes of the server, {writes} acknowledged writes, each there once")
    assert writes == crew.acknowledged() > 200 * (CRASHES + 1)
