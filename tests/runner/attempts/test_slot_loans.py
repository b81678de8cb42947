"""Parents that wait lend their slots: the real daemon, real agents, and who was at work when."""

import json
import os
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace
from tests.crash.daemons import Daemon, Home
from tests.crash.remains import check_nothing_is_left
from tests.runner.delegation import (
    PATIENCE_SECONDS,
    Delegation,
    ask,
    children,
    is_finished,
    results,
    run,
    wait_for,
)

from ramet.client.connection import Connection
from ramet.config.settings import SpawnSettings
from ramet.errors import DaemonUnreachable
from ramet.runner.processes import keepers

RAMET = str(Path(sys.executable).with_name("ramet"))


@pytest.fixture
def delegation() -> Iterator[Delegation]:
    place = Path(tempfile.mkdtemp(prefix="ramet-"))
    home = Home(place / "home")
    yield Delegation(home)
    home.close()
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture
def daemon(delegation: Delegation) -> Daemon:
    return delegation.home.start()


@pytest.fixture
def connection(daemon: Daemon) -> Iterator[Connection]:
    with daemon.connect() as connection:
        yield connection


@pytest.mark.requirement("R108", "R114")
def test_with_one_worker_a_chain_of_depth_three_completes_and_one_agent_works_at_a_time(
    delegation: Delegation, daemon: Daemon, connection: Connection
) -> None:
    deepest = {"name": "c", "plan": {"children": [{"name": "d"}]}}
    plan = {"children": [{"name": "a", "plan": {"children": [{"name": "b", "plan": {"children": [deepest]}}]}}]}
    root = delegation.add(connection, plan)
    run(daemon, 1).join(PATIENCE_SECONDS)
    assert is_finished(connection)
    assert [(child.depth, child.outcome) for child in children(connection)] == [(n, "success") for n in (1, 2, 3)]
    assert delegation.most_at_work() == 1
    said = [(note.name, note.what) for note in delegation.notes]
    assert said.index(("a", "ends")) < said.index(("root", "goes on"))
    assert results(connection, root)[0]["outcome"] == "success"
    (refused,) = results(connection, children(connection)[2].effort)
    assert refused["childSessionId"] is None
    assert refused["notes"].startswith("Max spawn depth exceeded")


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.requirement("R114", "R137")
def test_children_side_by_side_take_what_is_free_and_never_more(
    delegation: Delegation, daemon: Daemon, connection: Connection, workers: int
) -> None:
    names, lock = ["a", "b", "c", "d"], delegation.lock("go")
    root = delegation.add(connection, {"children": [{"name": name, "plan": {"until": str(lock)}} for name in names]})
    thread = run(daemon, workers)
    assert wait_for(lambda: delegation.most_at_work() == workers)
    lock.touch()
    thread.join(PATIENCE_SECONDS)
    assert [result["notes"] for result in results(connection, root)] == [f"{name} is done" for name in names]
    assert delegation.most_at_work() == workers


@pytest.mark.requirement("R118", "R137")
def test_a_child_that_fails_is_a_result_and_its_siblings_go_on(
    delegation: Delegation, daemon: Daemon, connection: Connection
) -> None:
    root = delegation.add(connection, {"children": [{"name": "a", "plan": {"exit": 3}}, {"name": "b"}]})
    run(daemon, 1).join(PATIENCE_SECONDS)
    failed, done = results(connection, root)
    assert (failed["outcome"], done["outcome"]) == ("error", "success")
    assert failed["childSessionId"] == children(connection)[0].session
    assert "exit" in failed["notes"]
    assert connection.call("work.get", {"effort_id": root})["outcome"] == "success"


def test_a_detached_child_is_run_from_the_queue_in_a_slot_of_its_own(
    delegation: Delegation, daemon: Daemon, connection: Connection
) -> None:
    root = delegation.add(connection, {"wait": False, "children": [{"name": "a"}]})
    run(daemon, 1).join(PATIENCE_SECONDS)
    assert is_finished(connection)
    (child,) = children(connection)
    assert (child.outcome, "." in (child.agent or "").rpartition("/")[2]) == ("success", False)
    assert results(connection, root)[0]["outcome"] is None
    assert delegation.notes[-1].name == "a"


def test_a_wait_that_is_over_leaves_the_child_at_work_and_another_one_collects_it(
    delegation: Delegation, daemon: Daemon, connection: Connection
) -> None:
    lock = delegation.lock("go")
    plan = {"patience": 1, "children": [{"name": "a", "plan": {"until": str(lock)}}]}
    root = delegation.add(connection, {**plan, "collect": True})
    thread = run(daemon, 1)
    waits = "SELECT data FROM events WHERE kind = 'effort.awaited' ORDER BY id"
    assert wait_for(lambda: len(ask(connection, waits)) == 2)  # nobody waits any more, and then somebody does again
    assert wait_for(lambda: delegation.has("a", "begins"))
    assert not delegation.has("a", "ends")
    lock.touch()
    thread.join(PATIENCE_SECONDS)
    assert results(connection, root)[0]["notes"] == "a is done"
    assert len(children(connection)) == 1


@pytest.mark.requirement("R139")
def test_killing_a_parent_ends_the_children_that_run_and_those_that_wait(
    delegation: Delegation, daemon: Daemon, connection: Connection
) -> None:
    never = {"until": str(delegation.lock("never"))}
    middle = {"name": "a", "plan": {"children": [{"name": "b", "plan": never}]}}
    root = delegation.add(connection, {"children": [middle, {"name": "c"}]})
    thread = run(daemon, 1)
    assert wait_for(lambda: delegation.has("b", "begins"))
    connection.call("fleet.kill", {"effort_id": root, "reason": "enough"})
    thread.join(PATIENCE_SECONDS)
    assert wait_for(lambda: is_finished(connection))
    assert ask(connection, "SELECT DISTINCT outcome FROM efforts") == [["cancelled"]]
    assert not delegation.has("c", "begins")
    check_nothing_is_left(delegation.home)


@pytest.mark.requirement("R132")
def test_a_parent_whose_time_is_over_leaves_its_child_finishing_and_linked(
    delegation: Delegation, daemon: Daemon, connection: Connection
) -> None:
    lock = delegation.lock("go")
    plan = {"wait": False, "collect": True, "children": [{"name": "a", "plan": {"until": str(lock)}}]}
    root = delegation.add(connection, plan, timeout_seconds=8)
    thread = run(daemon, 1)
    assert wait_for(lambda: connection.call("work.get", {"effort_id": root})["outcome"] == "timeout")
    assert not delegation.has("root", "goes on")
    lock.touch()
    thread.join(PATIENCE_SECONDS)
    (child,) = children(connection)
    assert (child.outcome, child.depth) == ("success", 1)
    assert ask(connection, f"SELECT effort_id FROM sessions WHERE id = {child.parent}") == [[root]]


@pytest.mark.requirement("R132", "R141")
def test_a_child_that_its_parent_waits_for_ends_before_its_parents_time_is_over(
    delegation: Delegation, daemon: Daemon, connection: Connection
) -> None:
    """A listed departure: the seed lets it continue, although its parent can no longer use what it finds."""
    never = {"until": str(delegation.lock("never"))}
    root = delegation.add(connection, {"children": [{"name": "a", "plan": never}]}, timeout_seconds=5)
    run(daemon, 1).join(PATIENCE_SECONDS)
    assert wait_for(lambda: is_finished(connection))
    (child,) = children(connection)
    assert child.outcome == "timeout"
    assert ask(connection, f"SELECT effort_id FROM sessions WHERE id = {child.parent}") == [[root]]
    allowed = "SELECT c.timeout_seconds < p.timeout_seconds, c.finished_at <= p.finished_at"
    assert ask(connection, f"{allowed} FROM efforts c, efforts p WHERE c.id = {child.effort} AND p.id = {root}") == [
        [1, 1]
    ]
    check_nothing_is_left(delegation.home)


@pytest.mark.requirement("R133")
def test_a_child_that_never_began_is_dropped_when_its_parent_dies(
    delegation: Delegation, daemon: Daemon, connection: Connection
) -> None:
    lock = delegation.lock("go")
    delegation.add(connection, {"children": [{"name": "a", "plan": {"until": str(lock)}}, {"name": "b"}]})
    thread = run(daemon, 1)
    assert wait_for(lambda: delegation.has("a", "begins"))
    connection.call("work.stop")
    (pid,) = [pid for pid in agent_pids(delegation.home) if "root" in psutil.Process(pid).cmdline()]
    os.kill(pid, signal.SIGKILL)
    dropped = "SELECT reason FROM efforts WHERE outcome = 'dropped'"
    assert wait_for(lambda: ask(connection, dropped) == [["its parent ended before it started"]])
    lock.touch()
    thread.join(PATIENCE_SECONDS)
    assert wait_for(lambda: [child.outcome for child in children(connection)] == ["success", "dropped"])
    assert not delegation.has("b", "begins")


def agent_pids(home: Home) -> list[int]:
    """Everything that agents are: the shells that keepers started, and what those run."""
    pids = [record.agent_pid for record in keepers.list_records(home.places.keepers) if record.agent_pid]
    return [pid for top in pids for pid in (top, *(each.pid for each in psutil.Process(top).children(recursive=True)))]


def test_children_of_a_parent_that_no_worker_runs_are_run_by_the_daemon_one_at_a_time(
    delegation: Delegation, connection: Connection
) -> None:
    session = delegation.start_by_hand(connection)
    agents = [delegation.order(name, {"then": 0.1}) for name in "abc"]
    reply = connection.call("spawn.agents", {"parent_session_id": session, "agents": agents, "wait": True})
    assert [result["outcome"] for result in reply["results"]] == ["success"] * 3
    assert delegation.most_at_work() == 1
    assert {(child.agent or "").rpartition("/")[2] for child in children(connection)} == {f"s{session}"}


def test_children_whose_parent_hangs_up_go_on_and_those_that_wait_go_to_the_queue(delegation: Delegation) -> None:
    settings = delegation.home.settings
    delegation.home.settings = replace(settings, spawn=SpawnSettings(orphan_seconds=1, drivers=["shell"]))
    daemon, lock = delegation.home.start(), delegation.lock("go")
    with daemon.connect() as connection:
        agents = [delegation.order("a", {"until": str(lock)}), delegation.order("b", {})]
        order = {"parent_session_id": delegation.start_by_hand(connection), "agents": agents, "wait": True}
        parent = daemon.connect()
        parent.set_timeout(1)
        with pytest.raises(DaemonUnreachable):
            parent.call("spawn.agents", order)
        assert wait_for(lambda: ask(connection, "SELECT id FROM efforts WHERE awaited_by IS NOT NULL") == [])
        assert wait_for(lambda: delegation.has("a", "begins"))
        thread = run(daemon, 1)
        assert wait_for(lambda: delegation.has("b", "ends"))
        lock.touch()
        thread.join(PATIENCE_SECONDS)
        assert wait_for(lambda: [child.outcome for child in children(connection)] == ["success"] * 2)


def test_a_session_that_is_cancelled_is_ended_at_once_with_what_it_spawned(
    delegation: Delegation, daemon: Daemon, connection: Connection
) -> None:
    never = {"until": str(delegation.lock("never"))}
    middle = {"name": "a", "plan": {"children": [{"name": "b", "plan": never}]}}
    root = delegation.add(connection, {"children": [middle]})
    thread = run(daemon, 1)
    assert wait_for(lambda: delegation.has("b", "begins"))
    connection.call("spawn.cancel", {"session_id": 2})
    thread.join(PATIENCE_SECONDS)
    assert results(connection, root)[0]["outcome"] == "cancelled"
    assert [child.outcome for child in children(connection)] == ["cancelled", "cancelled"]
    assert connection.call("work.get", {"effort_id": root})["outcome"] == "success"


def test_a_session_cannot_wait_for_itself(delegation: Delegation, daemon: Daemon, connection: Connection) -> None:
    order = {"name": "a", "order": {"goal": f"{RAMET} rpc call spawn.wait '{{\"session_ids\": [2]}}' 2>&1"}}
    root = delegation.add(connection, {"children": [order]})
    run(daemon, 1).join(PATIENCE_SECONDS)
    assert "cannot wait for itself" in results(connection, root)[0]["notes"]


def test_who_waits_for_a_child_says_so_in_its_status(
    delegation: Delegation, daemon: Daemon, connection: Connection
) -> None:
    lock = delegation.lock("go")
    delegation.add(connection, {"children": [{"name": "a", "plan": {"until": str(lock)}}]})
    thread = run(daemon, 1)
    assert wait_for(lambda: delegation.has("a", "begins"))

    def statuses() -> dict[int, str]:
        return {row["id"]: row["status"] for row in connection.call("spawn.tree", {"session_id": 1})["items"]}

    assert wait_for(lambda: statuses() == {1: "waiting_child", 2: "running"}), statuses()
    lock.touch()
    thread.join(PATIENCE_SECONDS)


@pytest.mark.requirement("R107", "R113", "R126")
def test_a_command_inside_an_agent_speaks_for_its_session_and_for_no_other(
    delegation: Delegation, daemon: Daemon, connection: Connection
) -> None:
    order = {"goal": "echo hello", "workflowId": "shell", "wait": True, "context": {"parent_session_id": 7}}
    another = {"goal": "echo no", "workflowId": "shell", "parent_session_id": 1}
    script = [[RAMET, "rpc", "call", "spawn.agent", json.dumps(order)], [RAMET, "project", "list"]]
    script += [[RAMET, "rpc", "call", "spawn.agent", json.dumps(another)], [RAMET, "daemon", "stop"]]
    commands = "; ".join(f"{shlex.join(command)} 2>&1; echo exit $?" for command in script)
    connection.call("db.project.upsert", {"path": str(delegation.project)})
    for name, prompt in (("first", "true"), ("second", commands)):
        params = {"prompt": prompt, "skill": "shell", "task": str(delegation.project / name)}
        connection.call("work.add", params)
    run(daemon, 1).join(PATIENCE_SECONDS)
    said = connection.call("work.get", {"effort_id": 2})["output_content"]
    assert [line for line in said.splitlines() if line.startswith("exit ")] == ["exit 0", "exit 2", "exit 2", "exit 2"]
    assert '"notes":"hello"' in said.replace(": ", ":")
    assert "this command is not available to agents" in said
    assert "cannot access session 1" in said
    assert [(child.parent, child.depth) for child in children(connection)] == [(2, 1)]
