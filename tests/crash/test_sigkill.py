"""The daemon is killed at any moment, and started again: what was acknowledged is there, once."""

import os
import random
import time
from functools import partial

import pytest
from tests.crash.audit import Audit, check_whole
from tests.crash.daemons import Daemon, Home
from tests.crash.hands import Crew

HANDS = 6
CYCLES = int(os.environ.get("RAMET_CRASH_CYCLES", "10"))
MANY_CYCLES = int(os.environ.get("RAMET_CRASH_CYCLES", "220"))


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


@pytest.mark.requirement("R263", "R293")
def test_every_acknowledged_write_survives_a_kill_once(sqlite_home: Home) -> None:
    writes = kill_again_and_again(sqlite_home, CYCLES, seed=1)
    assert writes > CYCLES * HANDS


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.requirement("R263", "R293")
def test_hundreds_of_kills_lose_nothing(sqlite_home: Home) -> None:
    writes = kill_again_and_again(sqlite_home, MANY_CYCLES, seed=2)
    assert writes > MANY_CYCLES * HANDS
