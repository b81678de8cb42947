"""The daemon's search index: fed beside requests, resumed after a kill, built again if it is lost or out of date."""

import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.harness import Client
from tests.daemon.process import Home, finish

PATIENCE = 60


@pytest.fixture
def home(run_directory: Path) -> Iterator[Home]:
    home = Home(run_directory)
    yield home
    home.close()


def say(client: Client, number: int) -> None:
    client.call("db.project.upsert", path="/shop")
    client.call("db.task.upsert", dir_path="/shop/task")
    effort = client.call("db.effort.start", task_id="/shop/task", skill="do")["result"]["id"]
    session = client.call("db.session.start", task_id="/shop/task", effort_id=effort)["result"]["id"]
    for at in range(number):
        role = "user" if at % 4 == 0 else "assistant"
        client.call("db.messages.append", session_id=session, role=role, content=f"walrus number {at} " + "word " * 50)


def texts(client: Client) -> int:
    return int(client.call("search.status")["result"]["texts"])


def wait(client: Client, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The state of the index, once it is as wanted. Searching hurries the feeder."""
    end = time.monotonic() + PATIENCE
    state: dict[str, Any] = {}
    while time.monotonic() < end:
        client.call("memory.search", query="walrus")
        state = client.call("search.status")["result"]
        if is_so(state):
            return state
    raise AssertionError(f"the index stays {state}")


def is_complete(state: dict[str, Any]) -> bool:
    return state["lag"] == 0 and not state["is_building"]


@pytest.mark.requirement("R388", "R386")
def test_what_was_written_is_found_and_the_index_outlives_kill_loss_and_damage(home: Home) -> None:
    daemon = home.serve()
    client = home.connect()
    say(client, 150)
    assert wait(client, is_complete)["texts"] == 150
    found = client.call("memory.search", query="walrus number 3", limit=1)["result"]["items"]
    assert found[0]["place"].startswith("s1:")

    daemon.kill()  # while nothing is written: the next one has nothing to read again
    finish(daemon)
    daemon = home.serve()
    client = home.connect()
    assert texts(client) == 150

    (home.path / "search.db").unlink()  # lost under a running daemon
    assert wait(client, is_complete)["texts"] == 150
    daemon.terminate()
    finish(daemon)

    index = home.path / "search.db"
    index.write_bytes(b"\0" * 100 + index.read_bytes()[100:])
    daemon = home.serve()
    client = home.connect()
    assert wait(client, is_complete)["texts"] == 150
    assert client.call("memory.search", query="walrus")["result"]["items"]


@pytest.mark.requirement("R388")
def test_a_daemon_that_is_killed_while_it_builds_continues_and_another_version_is_built_again(home: Home) -> None:
    daemon = home.serve()
    client = home.connect()
    say(client, 400)
    wait(client, lambda state: state["texts"] > 0)
    daemon.kill()
    finish(daemon)
    daemon = home.serve()
    client = home.connect()
    assert wait(client, is_complete)["texts"] == 400
    daemon.terminate()
    finish(daemon)
    with sqlite3.connect(home.path / "search.db") as index:
        (rules,) = index.execute("SELECT value FROM meta WHERE name = 'rules'").fetchone()
        index.execute("UPDATE meta SET value = ? WHERE name = 'rules'", (rules.split("/")[0] + "/0",))
    index.close()
    home.serve()
    client = home.connect()
    assert client.call("memory.search", query="walrus")["result"]["items"]  # of the old one, or of the new one
    state = wait(client, is_complete)
    assert (state["texts"], state["rules"]) == (400, rules)
    assert not list(home.path.glob("search.db.next*"))


@pytest.mark.requirement("R388")
def test_a_daemon_without_work_makes_no_index(home: Home) -> None:
    daemon = home.serve()
    assert home.connect().call("daemon.ping")["result"]
    daemon.terminate()
    finish(daemon)
    assert not (home.path / "search.db").exists()


@pytest.mark.requirement("R388")
def test_a_running_daemon_does_not_make_its_home_again(home: Home) -> None:
    daemon = home.serve()
    client = home.connect()
    say(client, 30)
    assert wait(client, is_complete)["texts"] == 30
    shutil.rmtree(home.path)
    for _ in range(3):  # each hurries the feeder
        client.call("memory.search", query="walrus")
    assert not home.path.exists()
    daemon.terminate()
    finish(daemon)
    assert not home.path.exists()


@pytest.mark.slow
@pytest.mark.requirement("R388")
def test_a_hook_and_a_durable_write_take_as_long_while_the_index_is_built() -> None:
    from benchmarks.search_beside import measure

    ratios = []
    for _ in range(6):  # neighbours on the machine may disturb some comparisons, not all
        result = measure(12_000, 300)
        assert result["was_building"]
        assert result["indexed_meanwhile"] > 0
        ratios.append(max(result["hook_ratio"], result["write_ratio"]))
        if ratios[-1] <= 1.2:
            break
    assert min(ratios) <= 1.2, ratios
