"""Three machines work on one queue while one process after the other is killed at random: daemons, keepers, agents.

Every effort comes to one end, no two of its agents live at once, and nothing is left running.
"""

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest
from tests.crash.daemons import ask
from tests.crash.lines import Line
from tests.crash.machines import Machine, Notes
from tests.crash.remains import check_nothing_is_left, marked_processes
from tests.crash.waits import PATIENCE_SECONDS, wait_for

from ramet.client.connection import Connection
from ramet.runner.processes import keepers

EFFORTS = 45
BEATS = 25
WORKERS = 4
KILLS = 60


@pytest.fixture
def machines(place: Path, postgres_url: str, notes: Notes) -> Iterator[list[Machine]]:
    made = [Machine(name, place, Line(postgres_url), notes, beats=BEATS) for name in ("north", "south", "east")]
    for machine in made:
        machine.start()
        machine.work(WORKERS)
    yield made
    for machine in made:
        machine.close()


@pytest.fixture
def notes(place: Path) -> Notes:
    return Notes(place / "notes")


def kill_daemon(machine: Machine, _: random.Random) -> None:
    """Its agents live on; the next daemon adopts them."""
    assert machine.daemon is not None
    machine.daemon.kill()
    machine.start()
    machine.work(WORKERS)


def kill_keeper(machine: Machine, chance: random.Random) -> None:
    """Its agent ends with it."""
    records = keepers.list_records(machine.home.places.keepers)
    _end(chance.choice([record.pid for record in records] or [0]))


def kill_agent(machine: Machine, chance: random.Random) -> None:
    """Any process of any agent, or of its keeper."""
    _end(chance.choice([pid for pid, _ in marked_processes(machine.home)] or [0]))


def _end(pid: int) -> None:
    if pid:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def unfinished(connection: Connection) -> int:
    return int(ask(connection, "SELECT count(*) FROM efforts WHERE lifecycle <> 'finished'")[0][0])


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.requirement("R292", "R310")
def test_kills_of_any_process_on_three_machines_leave_one_end_of_each_effort(
    machines: list[Machine], notes: Notes
) -> None:
    """The random moments are the point here: nothing is waited for between the kills."""
    chance = random.Random(5)
    ways: list[Callable[[Machine, random.Random], None]] = [kill_daemon, kill_keeper, kill_agent]
    assert machines[0].daemon is not None
    with machines[0].daemon.connect() as connection:
        for number in range(EFFORTS):
            task = str(machines[0].project / f"t{number}")
            connection.call("work.add", {"prompt": f"agent{number}", "skill": "do", "task": task})
    kills, deadline = 0, time.monotonic() + PATIENCE_SECONDS
    while kills < KILLS and time.monotonic() < deadline:
        chance.choice(ways)(chance.choice(machines), chance)
        kills += 1
        time.sleep(chance.uniform(0.05, 0.4))
    assert machines[0].daemon is not None
    with machines[0].daemon.connect() as connection:
        assert wait_for(lambda: unfinished(connection) == 0, 300)
        ends = ask(
            connection, "SELECT effort_id, count(*) FROM events WHERE kind = 'effort.finished' GROUP BY effort_id"
        )
        outcomes = ask(connection, "SELECT outcome, count(*) FROM efforts GROUP BY outcome")
        assert [count for _, count in ends] == [1] * EFFORTS
        assert connection.call("db.check")["findings"] == []
    lives = notes.lives()
    assert len(lives) == EFFORTS, "an effort ended without an agent"
    for name, lived in lives.items():
        for (_, last), (first, _) in pairwise(lived):
            assert last < first, f"two agents of {name} lived at once"
    for machine in machines:
        check_nothing_is_left(machine.home)
    agents = sum(len(lived) for lived in lives.values())
    print(f"{kills} kills, {EFFORTS} efforts, {agents} agents, outcomes {outcomes}, no overlap")
