"""A keeper hangs, and its machine's lease ends: its agent ends before that, and another machine takes over once."""

import os
import signal
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from tests.crash.daemons import ask
from tests.crash.lines import Line
from tests.crash.machines import Machine, Notes
from tests.crash.waits import wait_for

from ramet.client.connection import Connection
from ramet.runner.processes import keepers

LEASE_SECONDS = 8


@pytest.fixture
def notes(place: Path) -> Notes:
    return Notes(place / "notes")


@pytest.fixture
def machines(place: Path, postgres_url: str, notes: Notes) -> Iterator[tuple[Machine, Machine]]:
    """One whose agents live for a minute, and one whose agents are done at once."""
    north = Machine("north", place, Line(postgres_url), notes, beats=600, lease_seconds=LEASE_SECONDS)
    south = Machine("south", place, Line(postgres_url), notes, beats=5, lease_seconds=LEASE_SECONDS)
    for machine in (north, south):
        machine.start()
    yield north, south
    for machine in (north, south):
        machine.close()


def overlap_seconds(notes: Notes) -> float:
    """For how long two agents of one effort lived at once."""
    return max(
        (max(0.0, last - first) for lives in notes.lives().values() for (_, last), (first, _) in pairwise(lives))
    )


def count_events(connection: Connection, kind: str) -> int:
    return int(ask(connection, "SELECT count(*) FROM events WHERE kind = ?", kind)[0][0])


def let_keepers_hang(north: Machine) -> list[int]:
    """Stop the keepers of a machine; which they are."""
    pids = [record.pid for record in keepers.list_records(north.home.places.keepers)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    return pids


@pytest.mark.timeout(180)
@pytest.mark.requirement("R468")
@pytest.mark.parametrize("is_daemon_dead", [False, True])
def test_two_agents_of_an_effort_never_live_at_once_if_a_keeper_hangs(
    machines: tuple[Machine, Machine], notes: Notes, *, is_daemon_dead: bool
) -> None:
    north, south = machines
    assert north.daemon is not None
    assert south.daemon is not None
    with south.daemon.connect() as connection:
        connection.call("work.add", {"prompt": "agent0", "skill": "do", "task": str(north.project / "t0")})
        north.work(1)
        assert wait_for(lambda: len(notes.lives()) == 1)
        north.let_agents_beat(5)  # the next ones, wherever they are
        if is_daemon_dead:
            north.daemon.kill()
        hanging = let_keepers_hang(north)
        assert hanging
        south.work(1)
        finished: Callable[[], bool] = lambda: count_events(connection, "effort.finished") == 1  # noqa: E731
        assert wait_for(finished)
        assert len(notes.lives()["agent0"]) == 2
        assert overlap_seconds(notes) == 0
        for pid in hanging:  # one that the guards have left would go on now
            with pytest.raises(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        if is_daemon_dead:  # else it has reported itself what became of its keeper
            north.daemon = north.home.start()
            assert wait_for(lambda: count_events(connection, "effort.late_report") == 1)
        assert wait_for(lambda: list(north.home.places.keepers.iterdir()) == [])
        assert ask(connection, "SELECT outcome, attempts FROM efforts") == [["success", 2]]
        assert count_events(connection, "effort.finished") == 1
