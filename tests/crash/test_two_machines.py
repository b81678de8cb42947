"""Several machines work on one queue: every effort runs once, and when a machine dies or is cut off, what it had is
taken over once, without its disk, and never while its agent still lives.
"""

import json
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.crash.daemons import ask
from tests.crash.lines import Line, NamespaceLine, has_namespaces
from tests.crash.machines import Machine, Notes
from tests.crash.remains import marked_processes
from tests.crash.waits import wait_for

from ramet.client.connection import Connection

Make = Callable[..., Machine]


@pytest.fixture
def notes(place: Path) -> Notes:
    return Notes(place / "notes")


@pytest.fixture
def make(place: Path, postgres_url: str, notes: Notes) -> Iterator[Make]:
    machines: list[Machine] = []

    def add(name: str, line: type[Line] = Line, **params: Any) -> Machine:
        machines.append(Machine(name, place, line(postgres_url), notes, **params))
        machines[-1].start()
        return machines[-1]

    yield add
    for machine in machines:
        machine.close()


def add_efforts(machine: Machine, connection: Connection, count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        task = str(machine.project / f"t{number}")
        connection.call("work.add", {"prompt": f"agent{number}", "skill": "do", "task": task})


def unfinished(connection: Connection) -> int:
    return int(ask(connection, "SELECT count(*) FROM efforts WHERE lifecycle <> 'finished'")[0][0])


def held_by(connection: Connection, machine: Machine) -> set[str]:
    """The prompts of what a machine's workers have a lease on."""
    rows = ask(connection, "SELECT prompt FROM efforts WHERE lease_owner LIKE ?", f"{machine.name}.%")
    return {row[0] for row in rows}


def counted(connection: Connection, kind: str) -> Counter[str]:
    """How often something happened to each effort."""
    sql = "SELECT e.prompt FROM events v JOIN efforts e ON e.id = v.effort_id WHERE v.kind = ?"
    return Counter(row[0] for row in ask(connection, sql, kind))


def claimers(connection: Connection) -> dict[str, list[str]]:
    """The machines that claimed each effort, in order."""
    sql = (
        "SELECT e.prompt, v.data FROM events v JOIN efforts e ON e.id = v.effort_id "
        "WHERE v.kind = 'effort.claimed' ORDER BY v.id"
    )
    found = defaultdict(list)
    for name, data in ask(connection, sql):
        found[name].append(json.loads(data)["worker"].partition(".")[0])
    return found


def check_all_is_well(connection: Connection, notes: Notes, count: int, *, lost: set[str]) -> set[str]:
    """Everything succeeded and was finished once; only what lost machines had was run again, once for each of them, and
    after the agent before had ended. What was run again.
    """
    efforts = ask(connection, "SELECT prompt, outcome, lease_owner, output_content, reason FROM efforts")
    assert len(efforts) == count
    for name, outcome, owner, output, reason in efforts:
        assert (outcome, owner) == ("success", None), f"{name}: {reason}"
        assert f"{name} is done" in output
    assert set(counted(connection, "effort.finished").values()) == {1}
    claims, lives = claimers(connection), notes.lives()
    again = {name for name, machines in claims.items() if len(machines) > 1}
    for name in again:
        *losers, _ = claims[name]
        assert {*losers} <= lost, f"{name} was taken from {losers}"
        assert len({*losers}) == len(losers), f"{name} was lost again and again by {losers}"
    for name, lived in lives.items():
        assert len(lived) <= len(claims[name]), f"{name} was run more than once"
        for (_, last), (first_beat, _) in pairwise(lived):
            assert last < first_beat, f"two agents of {name} lived at once"
    assert connection.call("db.check")["findings"] == []
    return again


@pytest.mark.timeout(180)
@pytest.mark.requirement("R310")
def test_two_machines_share_a_queue_and_one_of_them_dies(make: Make, notes: Notes) -> None:
    north, south = make("north"), make("south")
    assert south.daemon is not None
    with south.daemon.connect() as connection:
        add_efforts(north, connection, 20)
        north.let_agents_beat(600)  # longer than it lives
        north.work(3)
        south.work(3)
        assert wait_for(lambda: len(held_by(connection, north)) == 3 and unfinished(connection) < 18)
        held = held_by(connection, north)
        north.kill()
        assert wait_for(lambda: unfinished(connection) == 0)
        assert check_all_is_well(connection, notes, 20, lost={"north"}) == held
        assert {machine for machines in claimers(connection).values() for machine in machines} == {"north", "south"}
    assert wait_for(lambda: marked_processes(south.home) == [])


def cut_off(make: Make, notes: Notes, line: type[Line]) -> None:
    """One machine is cut off for longer than its leases last, while its agents have still much to do."""
    north, south = make("north", line, beats=600), make("south")
    assert south.daemon is not None
    with south.daemon.connect() as connection:
        add_efforts(north, connection, 2)
        north.work(2)
        assert wait_for(lambda: len(notes.lives()) == 2)
        lost = held_by(connection, north)
        north.line.cut()
        south.work(2)
        assert wait_for(lambda: marked_processes(north.home) == [])
        assert wait_for(lambda: unfinished(connection) == 0)
        north.let_agents_beat(5)
        north.line.mend()
        assert wait_for(lambda: set(counted(connection, "effort.late_report")) == lost)
        assert check_all_is_well(connection, notes, 2, lost={"north"}) == lost == {"agent0", "agent1"}
        assert wait_for(lambda: list(north.home.places.keepers.iterdir()) == [])
        connection.call("work.stop")
        add_efforts(north, connection, 1, first=2)
        assert wait_for(lambda: unfinished(connection) == 0), "the workers of north have not come back"


@pytest.mark.timeout(180)
@pytest.mark.requirement("R310")
def test_a_machine_that_is_cut_off_ends_its_agents_before_others_take_over(make: Make, notes: Notes) -> None:
    cut_off(make, notes, Line)


@pytest.mark.timeout(180)
@pytest.mark.requirement("R310")
def test_what_a_lost_machine_began_in_its_clone_is_begun_anew_in_another(make: Make, notes: Notes, place: Path) -> None:
    origin = place / "origin"
    somebody = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.com"]
    subprocess.run(["git", "init", "--quiet", str(origin)], check=True)
    subprocess.run(["git", *somebody, "-C", str(origin), "commit", "-q", "--allow-empty", "-m", "A shop"], check=True)
    north, south = make("north", beats=600), make("south")
    for machine in (north, south):
        machine.clone(origin)
    assert south.daemon is not None
    with south.daemon.connect() as connection:
        add_efforts(north, connection, 1)
        north.work(1)
        assert wait_for(lambda: len(notes.lives()) == 1)
        north.kill()
        south.work(1)
        assert wait_for(lambda: unfinished(connection) == 0)
        assert check_all_is_well(connection, notes, 1, lost={"north"}) == {"agent0"}
        ((worktree, branch),) = ask(connection, "SELECT worktree, git_branch FROM efforts")
    assert Path(worktree).is_relative_to(south.home.path)
    assert (Path(worktree) / ".git").is_file()
    assert branch == "ramet/e1"


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.requirement("R310")
@pytest.mark.skipif(not has_namespaces(), reason="network namespaces cannot be made here")
def test_the_same_over_a_network_whose_packets_get_lost(make: Make, notes: Notes) -> None:
    cut_off(make, notes, NamespaceLine)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.requirement("R310")
def test_three_machines_run_three_hundred_efforts_while_one_dies_and_one_is_cut_off(make: Make, notes: Notes) -> None:
    apart = NamespaceLine if has_namespaces() else Line
    settings = {"beats": 10, "lease_seconds": 15}  # so many agents at once make a small machine slow
    north, south, east = make("north", **settings), make("south", apart, **settings), make("east", **settings)
    assert east.daemon is not None
    with east.daemon.connect() as connection:
        add_efforts(north, connection, 300)
        for machine in (north, south, east):
            machine.work(4)
        assert wait_for(lambda: unfinished(connection) < 250 and len(held_by(connection, north)) == 4, 300)
        north.kill()
        assert wait_for(lambda: unfinished(connection) < 200 and len(held_by(connection, south)) == 4, 300)
        south.line.cut()
        assert wait_for(lambda: marked_processes(south.home) == [] and not held_by(connection, south), 300)
        south.line.mend()
        assert wait_for(lambda: unfinished(connection) == 0, 600)
        again = check_all_is_well(connection, notes, 300, lost={"north", "south"})
        assert {claimers(connection)[name][0] for name in again} == {"north", "south"}
        assert wait_for(lambda: list(south.home.places.keepers.iterdir()) == [])
        late = counted(connection, "effort.late_report")
        assert set(late) == {name for name in again if "south" in claimers(connection)[name][:-1]}
