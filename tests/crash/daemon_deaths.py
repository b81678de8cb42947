"""How a daemon dies while a crew works: at a fault that was armed, or killed at any moment."""

import random
import time
from functools import partial

import pytest
from tests.crash.audit import Audit, check_whole
from tests.crash.daemons import Daemon, Home
from tests.crash.hands import Crew

from ramet.client.connection import Connection
from ramet.errors import DaemonUnreachable

HANDS = 6
"""How many hands a crew has while its daemon is killed again and again."""


def work_until_it_dies(daemon: Daemon, crew: Crew) -> None:
    crew.work(daemon.connect, daemon.died_by_its_fault)
    assert daemon.died_by_its_fault()


def lose_one(daemon: Daemon, crew: Crew) -> None:
    """Send one request, which the daemon does not live to answer."""
    with daemon.connect() as connection, pytest.raises(DaemonUnreachable, match="not known whether"):
        crew.hands[0].step(connection)
    assert daemon.died_by_its_fault()


def count_efforts(connection: Connection) -> int:
    return int(connection.call("db.query", {"sql": "SELECT count(*) FROM efforts"})["rows"][0][0])


def prepared(home: Home, crew: Crew) -> None:
    daemon = home.start()
    with daemon.connect() as connection:
        crew.prepare(connection)
    daemon.kill()


def kill_again_and_again(home: Home, cycles: int, seed: int) -> int:
    """How many acknowledged writes were found again, each once."""
    moments = random.Random(seed)
    crew = Crew(HANDS)
    audit = Audit(crew)
    for cycle in range(cycles):
        daemon = home.start()
        with daemon.connect() as connection:
            if cycle == 0:
                crew.prepare(connection)
            audit.compare(connection)
            audit.settle(connection)
            if cycle % 50 == 49:
                assert connection.call("db.check")["findings"] == []
        crew.work(daemon.connect, partial(kill_after, daemon, moments.uniform(0.05, 0.35)))
    with home.start().connect() as connection:
        audit.compare(connection)
        writes = check_whole(connection, crew)
    print(f"{cycles} kills, {writes} acknowledged writes, each there once")
    return writes


def kill_after(daemon: Daemon, seconds: float) -> None:
    """The random moment is the point here; nothing is waited for."""
    time.sleep(seconds)
    daemon.kill()
