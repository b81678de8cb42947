"""Daemons and keepers are killed while agents delegate: a child is on record with its parent or not at all, nothing
runs without evidence, and every spawn comes to exactly one outcome.
"""

import os
import signal
from collections import Counter
from typing import Any

import pytest
from tests.crash.daemons import Home
from tests.crash.remains import check_nothing_is_left
from tests.runner.delegation import PATIENCE_SECONDS, Delegation, ask, children, is_finished, run, wait_for

from ramet.client.connection import Connection
from ramet.errors import DaemonUnreachable
from ramet.runner.processes import keepers

FAMILY = {
    "children": [
        {"name": "a", "plan": {"children": [{"name": "b"}]}},
        {"name": "c", "plan": {"exit": 1}},
    ]
}
"""A root with two children, one of which fails, and a grandchild."""
POINTS = [
    *(
        f"{point}:{count}"
        for point in ("before_commit", "after_commit_before_reply")
        for count in (8, 10, 12, 14, 18, 22)
    ),
    *(
        f"{point}:{count}"
        for point in ("before_launch", "after_launch", "before_settle", "after_settle")
        for count in (1, 2, 3)
    ),
]
SOME = ["before_commit:14", "after_commit_before_reply:14", "before_launch:2", "after_launch:2", "before_settle:2"]


def check(connection: Connection, home: Home) -> None:
    """What holds after any crash, once everything is over."""
    spawned = children(connection)
    assert all(child.outcome for child in spawned)
    sessions = {row[0]: row[1:] for row in ask(connection, "SELECT id, root_session_id, spawn_depth FROM sessions")}
    for child in spawned:
        assert sessions[child.parent] == [child.root, child.depth - 1]
    assert ask(connection, "SELECT count(*) FROM sessions WHERE ended_at IS NULL") == [[0]]
    efforts = [child.effort for child in spawned]
    for kind in ("effort.finished", "session.collapsed", "session.spawned"):
        told = Counter(row[0] for row in ask(connection, f"SELECT effort_id FROM events WHERE kind = '{kind}'"))
        assert {told[effort] for effort in efforts} <= {1}, kind
    assert ask(connection, "SELECT count(*) FROM efforts WHERE awaited_by IS NOT NULL") == [[0]]
    assert connection.call("db.check")["findings"] == []
    check_nothing_is_left(home)


def outcomes(connection: Connection) -> dict[str, Any]:
    rows = ask(connection, "SELECT id, outcome FROM efforts ORDER BY id")
    return {f"e{effort}": outcome for effort, outcome in rows}


def survive(home: Home, fault: str) -> None:
    """Let a daemon die at a point, and the next one bring everything to its end."""
    delegation = Delegation(home)
    daemon = home.start(fault)
    with daemon.connect() as connection:
        delegation.add(connection, FAMILY)
    run(daemon, 1).join(PATIENCE_SECONDS)
    assert daemon.died_by_its_fault()
    daemon = home.start()
    with daemon.connect() as connection:
        connection.set_timeout(PATIENCE_SECONDS)
        while not is_finished(connection):
            connection.call("work.run", {"workers": 1, "once": True})
        assert outcomes(connection)["e1"] == "success"
        check(connection, home)


@pytest.mark.parametrize("fault", SOME)
@pytest.mark.requirement("R109", "R133")
def test_a_daemon_that_dies_anywhere_leaves_children_that_come_to_one_outcome(sqlite_home: Home, fault: str) -> None:
    survive(sqlite_home, fault)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("fault", [fault for fault in POINTS if fault not in SOME])
@pytest.mark.requirement("R109", "R133", "R292")
def test_a_daemon_that_dies_at_any_other_point_does_too(sqlite_home: Home, fault: str) -> None:
    survive(sqlite_home, fault)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("fault", ["after_commit_before_reply:14", "after_launch:2", "before_settle:1"])
@pytest.mark.requirement("R109", "R133")
def test_it_is_the_same_on_postgresql(postgres_home: Home, fault: str) -> None:
    survive(postgres_home, fault)


@pytest.mark.requirement("R109", "R292")
def test_a_parent_that_waits_and_its_child_outlive_the_daemon_and_the_wait_goes_on(sqlite_home: Home) -> None:
    delegation = Delegation(sqlite_home)
    lock = delegation.lock("go")
    daemon = sqlite_home.start()
    with daemon.connect() as connection:
        delegation.add(connection, {"children": [{"name": "a", "plan": {"until": str(lock)}}, {"name": "b"}]})
    thread = run(daemon, 1)
    assert wait_for(lambda: delegation.has("a", "begins"))
    daemon.kill()
    thread.join()
    with sqlite_home.start().connect() as connection:
        waits = "SELECT count(*) FROM efforts WHERE awaited_by = 1"
        assert wait_for(lambda: ask(connection, waits) == [[2]])
        lock.touch()
        assert wait_for(lambda: is_finished(connection))
        assert outcomes(connection) == {"e1": "success", "e2": "success", "e3": "success"}
        assert [note.what for note in delegation.notes if note.name == "root"] == ["begins", "waits", "goes on", "ends"]
        assert delegation.most_at_work() == 1
        check(connection, sqlite_home)


@pytest.mark.requirement("R133")
def test_a_child_whose_keeper_is_killed_is_made_again_in_its_parents_slot(sqlite_home: Home) -> None:
    delegation = Delegation(sqlite_home)
    lock = delegation.lock("go")
    daemon = sqlite_home.start()
    with daemon.connect() as connection:
        delegation.add(connection, {"children": [{"name": "a", "plan": {"until": str(lock)}}]})
        thread = run(daemon, 1)
        assert wait_for(lambda: delegation.has("a", "begins"))
        kill_keeper(sqlite_home, effort_id=2)
        assert wait_for(lambda: len([note for note in delegation.notes if note.name == "a"]) == 2)
        lock.touch()
        thread.join(PATIENCE_SECONDS)
        first, second = children(connection)
        assert (first.effort, first.depth, first.agent) == (second.effort, second.depth, second.agent)
        assert outcomes(connection) == {"e1": "success", "e2": "success"}
        check(connection, sqlite_home)


@pytest.mark.requirement("R132", "R133")
def test_a_parent_whose_keeper_is_killed_leaves_its_child_finishing(sqlite_home: Home) -> None:
    delegation = Delegation(sqlite_home)
    lock = delegation.lock("go")
    daemon = sqlite_home.start()
    with daemon.connect() as connection:
        delegation.add(connection, {"children": [{"name": "a", "plan": {"until": str(lock)}}]})
        thread = run(daemon, 1)
        assert wait_for(lambda: delegation.has("a", "begins"))
        kill_keeper(sqlite_home, effort_id=1)
        assert wait_for(lambda: len([note for note in delegation.notes if note.what == "waits"]) == 2)
        lock.touch()
        thread.join(PATIENCE_SECONDS)
        assert wait_for(lambda: is_finished(connection))
        assert set(outcomes(connection).values()) == {"success"}
        assert [child.parent for child in children(connection)] == [1, 3]
        check(connection, sqlite_home)


def kill_keeper(home: Home, effort_id: int) -> None:
    (record,) = [each for each in keepers.list_records(home.places.keepers) if each.effort_id == effort_id]
    os.kill(record.pid, signal.SIGKILL)


def test_a_child_that_waits_when_its_daemon_dies_is_run_by_the_next(sqlite_home: Home) -> None:
    """Its parent was somebody's own session, which does not come back to wait for it."""
    delegation = Delegation(sqlite_home)
    daemon = sqlite_home.start("before_launch:1")
    with daemon.connect() as connection:
        session, child = delegation.start_by_hand(connection), delegation.order("a", {})
        with pytest.raises(DaemonUnreachable):
            connection.call("spawn.agent", {"parent_session_id": session, **child, "wait": True})
    assert daemon.died_by_its_fault()
    with sqlite_home.start().connect() as connection:
        connection.set_timeout(PATIENCE_SECONDS)
        connection.call("work.run", {"workers": 1, "once": True})
        assert {(child.effort, child.parent, child.outcome) for child in children(connection)} == {
            (2, session, "success")
        }
        assert ask(connection, "SELECT count(*) FROM events WHERE kind = 'session.collapsed'") == [[1]]
    check_nothing_is_left(sqlite_home)
