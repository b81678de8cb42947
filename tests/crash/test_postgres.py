"""On PostgreSQL: the daemon is killed, and the server's side of its connections too. Nothing acknowledged is lost."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from tests.crash.audit import Audit, check_whole
from tests.crash.daemon_deaths import (
    count_efforts,
    kill_again_and_again,
    lose_one,
    prepared,
    work_until_it_dies,
)
from tests.crash.daemons import Home
from tests.crash.hands import TASK, Crew

from ramet.store.database.schema.migrations import load_migrations

CYCLES = int(os.environ.get("RAMET_CRASH_CYCLES", "4"))
MANY_CYCLES = int(os.environ.get("RAMET_CRASH_CYCLES", "50"))
MOMENTS = sum(len(migration.statements) + 1 for migration in load_migrations("postgres"))


@pytest.mark.requirement("R293")
def test_every_acknowledged_write_survives_a_kill_once(postgres_home: Home) -> None:
    assert kill_again_and_again(postgres_home, CYCLES, seed=3) > CYCLES


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_tens_of_kills_lose_nothing(postgres_home: Home) -> None:
    assert kill_again_and_again(postgres_home, MANY_CYCLES, seed=4) > MANY_CYCLES


@pytest.mark.parametrize("point", ["before_commit", "after_commit_before_reply"])
def test_death_around_a_commit_loses_and_repeats_nothing(postgres_home: Home, point: str) -> None:
    crew = Crew(4)
    audit = Audit(crew)
    prepared(postgres_home, crew)
    work_until_it_dies(postgres_home.start(f"{point}:25"), crew)
    with postgres_home.start().connect() as connection:
        audit.compare(connection)
        audit.settle(connection)
        assert check_whole(connection, crew) == crew.acknowledged()


@pytest.mark.parametrize(("point", "kept"), [("before_commit", 0), ("after_commit_before_reply", 1)])
def test_a_request_repeated_with_its_key_has_one_effect(postgres_home: Home, point: str, kept: int) -> None:
    crew = Crew(1)
    prepared(postgres_home, crew)
    lose_one(postgres_home.start(f"{point}:1"), crew)
    with postgres_home.start().connect() as connection:
        assert count_efforts(connection) == kept
        crew.repeat_pending(connection)
        assert count_efforts(connection) == 1


@pytest.mark.parametrize("moment", [1, MOMENTS // 2, MOMENTS])
def test_a_migration_that_was_cut_off_is_done_by_the_next_start(postgres_home: Home, moment: int) -> None:
    assert postgres_home.launch(f"during_migration:{moment}").died_by_its_fault()
    crew = Crew(1)
    with postgres_home.start().connect() as connection:
        crew.prepare(connection)
        crew.hands[0].step(connection)
        assert check_whole(connection, crew) == 1


@pytest.fixture
def own_database(postgres_server: str) -> Iterator[str]:
    """A whole database, so that only this test's connections are cut."""
    name = f"ramet_cut_{os.getpid()}"
    with psycopg.connect(postgres_server, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}".encode())
        yield urlunsplit(urlsplit(postgres_server)._replace(path=f"/{name}"))
        server.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@pytest.fixture
def own_home(place: Path, own_database: str) -> Iterator[Home]:
    home = Home(place / "home", own_database)
    yield home
    home.close()


def terminate_backends(url: str, times: int) -> Callable[[], None]:
    """Cut the server's side of every connection that a daemon has, again and again."""

    def cut() -> None:
        ended = 0
        with psycopg.connect(url, autocommit=True) as server:
            for _ in range(times):
                time.sleep(0.1)
                ended += server.execute(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND application_name = 'ramet' AND pid <> pg_backend_pid()"
                ).fetchall()[0][0]
        assert ended >= times

    return cut


def test_a_server_that_cuts_its_connections_gives_typed_errors_and_loses_nothing(
    own_home: Home, own_database: str
) -> None:
    crew = Crew(6)
    daemon = own_home.start()
    with daemon.connect() as connection:
        crew.prepare(connection)
    crew.work(daemon.connect, terminate_backends(own_database, 8), tries=50)
    assert {code for hand in crew.hands for code in hand.typed_failures} == {"database_unreachable"}
    with daemon.connect() as connection:
        for hand in crew.hands:
            hand.step(connection, tries=3)
        assert check_whole(connection, crew) == crew.acknowledged() > 2 * len(crew.hands)


@pytest.mark.parametrize("method", ["db.effort.start", "db.effort.list", "db.query"])
def test_nobody_notices_connections_that_were_cut_while_idle(own_home: Home, own_database: str, method: str) -> None:
    crew = Crew(1)
    params: dict[str, Any] = {
        "db.effort.start": {"task_id": TASK, "skill": "plan"},
        "db.effort.list": {"task_id": TASK},
        "db.query": {"sql": "SELECT 1"},
    }[method]
    with own_home.start().connect() as connection:
        crew.prepare(connection)
        for _ in range(4):
            connection.call(method, params)
        terminate_backends(own_database, 1)()
        for _ in range(4):
            connection.call(method, params)
