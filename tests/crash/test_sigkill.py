"""The daemon is killed at any moment, and started again: what was acknowledged is there, once."""

import os

import pytest
from tests.crash.daemon_deaths import HANDS, kill_again_and_again
from tests.crash.daemons import Home

CYCLES = int(os.environ.get("RAMET_CRASH_CYCLES", "10"))
MANY_CYCLES = int(os.environ.get("RAMET_CRASH_CYCLES", "220"))


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
