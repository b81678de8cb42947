"""Many clients at once, through a real daemon on each database: nothing is lost, nothing twice, nobody sees a lock."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from ramet.client.connection import Connection
from ramet.errors import EffortHeld

TASK = "/shop/tasks/cart"
PATIENCE_SECONDS = 60

Work = Callable[[Connection, int], Any]


@pytest.fixture(params=["sqlite", "postgres"])
def socket(request: pytest.FixtureRequest, home: dict[str, str], daemon_socket: Callable[[], str]) -> str:
    """A daemon with one task."""
    if request.param == "postgres":
        home["RAMET_DATABASE_TYPE"] = "postgres"
        home["RAMET_DATABASE_URL"] = request.getfixturevalue("postgres_url")
    path = daemon_socket()
    with Connection(path, PATIENCE_SECONDS) as connection:
        connection.call("db.project.upsert", {"path": "/shop"})
        connection.call("db.task.upsert", {"dir_path": TASK})
    return path


def all_at_once(socket: str, clients: int, work: Work) -> list[Any]:
    """Each client on a connection and a thread of its own, let go at the same moment; what each found."""
    start = Barrier(clients)

    def run(number: int) -> Any:
        with Connection(socket, PATIENCE_SECONDS) as connection:
            start.wait(PATIENCE_SECONDS)
            return work(connection, number)

    with ThreadPoolExecutor(clients) as threads:
        return list(threads.map(run, range(clients)))


@pytest.mark.requirement("R208", "R263")
def test_fifty_clients_that_start_efforts_on_one_task_number_them_without_gap_or_duplicate(socket: str) -> None:
    def start(connection: Connection, number: int) -> list[int]:
        efforts = [connection.call("db.effort.start", {"task_id": TASK, "skill": "do"}) for _ in range(3)]
        return [effort["ordinal"] for effort in efforts]

    ordinals = all_at_once(socket, 50, start)
    assert sorted(ordinal for own in ordinals for ordinal in own) == list(range(1, 151))
    assert all(own == sorted(own) for own in ordinals)


@pytest.mark.requirement("R263", "R293")
def test_a_hundred_clients_that_change_one_session_lose_no_update(socket: str) -> None:
    with Connection(socket, PATIENCE_SECONDS) as connection:
        effort = connection.call("db.effort.start", {"task_id": TASK, "skill": "do"})
        params = {"task_id": TASK, "effort_id": effort["id"], "driver": "claude", "native_id": "n"}
        connection.call("db.session.start", params)

    def change(connection: Connection, number: int) -> None:
        message = {"session_id": "claude:n", "role": "user", "content": f"turn {number}"}
        connection.call("db.session.heartbeat", {"session_id": "claude:n"})
        connection.call("db.messages.append", message)
        connection.call("db.session.heartbeat", {"session_id": "claude:n"})

    all_at_once(socket, 100, change)
    with Connection(socket, PATIENCE_SECONDS) as connection:
        (session,) = connection.call("db.session.find")["items"]
        listed = connection.call("db.messages.list", {"session_id": "claude:n", "limit": 1000})["items"]
        beats = connection.call("events.list", {"kind": "session.heartbeat", "limit": 1000})["items"]
        assert connection.call("db.check")["findings"] == []
    assert session["heartbeat_counter"] == len(beats) == 200
    assert sorted(message["content"] for message in listed) == sorted(f"turn {number}" for number in range(100))
    assert len({message["commit"] for message in listed}) == 100


@pytest.mark.requirement("R263", "R267")
def test_of_twenty_agents_that_grab_one_effort_one_gets_it(socket: str) -> None:
    with Connection(socket, PATIENCE_SECONDS) as connection:
        effort = connection.call("db.effort.start", {"task_id": TASK, "skill": "do"})

    def grab(connection: Connection, number: int) -> bool:
        params = {"task_id": TASK, "effort_id": effort["id"], "agent_id": f"agent {number}"}
        try:
            connection.call("db.session.start", params)
        except EffortHeld:
            return False
        return True

    assert sum(all_at_once(socket, 20, grab)) == 1
    with Connection(socket, PATIENCE_SECONDS) as connection:
        assert len(connection.call("db.session.find")["items"]) == 1
        assert len(connection.call("fleet.status")["items"]) == 1


@pytest.mark.requirement("R263")
def test_a_key_sent_by_twenty_clients_at_once_is_done_once(socket: str) -> None:
    def start(connection: Connection, number: int) -> int:
        params = {"task_id": TASK, "skill": "do", "idempotency_key": "the one"}
        return int(connection.call("db.effort.start", params)["id"])

    assert len(set(all_at_once(socket, 20, start))) == 1
    with Connection(socket, PATIENCE_SECONDS) as connection:
        assert len(connection.call("db.effort.list", {"task_id": TASK})["items"]) == 1


@pytest.mark.requirement("R180", "R263")
def test_twenty_workers_that_claim_at_once_get_every_effort_once(socket: str) -> None:
    with Connection(socket, PATIENCE_SECONDS) as connection:
        added = [connection.call("work.add", {"prompt": "x", "skill": "do", "task": TASK})["id"] for _ in range(60)]

    def work(connection: Connection, number: int) -> list[int]:
        done = []
        while "id" in (claimed := connection.call("work.claim", {"worker": f"host/{number}"})):
            params = {"effort_id": claimed["id"], "generation": claimed["generation"], "outcome": "success"}
            assert connection.call("work.complete", params)["ignored"] is False
            done.append(claimed["id"])
        return done

    done = all_at_once(socket, 20, work)
    assert sorted(effort_id for own in done for effort_id in own) == added
    with Connection(socket, PATIENCE_SECONDS) as connection:
        efforts = connection.call("work.list", {"limit": 100})["items"]
        assert connection.call("db.check")["findings"] == []
    assert {(effort["attempts"], effort["lease_generation"], effort["outcome"]) for effort in efforts} == {
        (1, 1, "success")
    }


@pytest.mark.requirement("R180")
def test_of_twenty_workers_that_want_one_effort_one_gets_it_and_the_others_hear_why(socket: str) -> None:
    with Connection(socket, PATIENCE_SECONDS) as connection:
        effort_id = connection.call("work.add", {"prompt": "x", "skill": "do", "task": TASK})["id"]

    def grab(connection: Connection, number: int) -> str:
        reply = connection.call("work.claim", {"worker": f"host/{number}", "effort_id": effort_id})
        return str(reply.get("refused", "claimed"))

    assert sorted(all_at_once(socket, 20, grab)) == ["claimed", *["lost"] * 19]


def test_the_clients_are_this_process_and_the_daemon_is_another(socket: str) -> None:
    with Connection(socket, PATIENCE_SECONDS) as connection:
        assert connection.call("daemon.status")["pid"] != os.getpid()


@pytest.mark.requirement("R263", "R283")
def test_children_that_end_while_their_parent_speaks_all_come_into_its_history(socket: str) -> None:
    children = 6
    with Connection(socket, PATIENCE_SECONDS) as connection:
        attempts = [_begin(connection, f"host/{number}", number) for number in range(children + 1)]

    def say_or_end(connection: Connection, number: int) -> None:
        attempt = attempts[number]
        if number == 0:
            for seq in range(1, 31):
                said = [{"kind": "text", "text": f"word {seq}"}]
                connection.call("work.report", {"session_id": 1, "instance": "keeper00", "seq": seq, "events": said})
        else:
            effort = {"effort_id": attempt["effort"]["id"], "generation": 1, "outcome": "success"}
            connection.call("work.complete", {**effort, "output_content": f"child {number}"})

    all_at_once(socket, children + 1, say_or_end)
    with Connection(socket, PATIENCE_SECONDS) as connection:
        log = connection.call("history.log", {"branch": "session/1", "limit": 1000})["items"]
        assert connection.call("db.check")["findings"] == []
    found = [row["preview"] for row in reversed(log)]
    assert {f"child {number}" for number in range(1, children + 1)} <= set(found)
    assert [each for each in found if each.startswith("word")] == [f"word {seq}" for seq in range(1, 31)]


def _begin(connection: Connection, worker: str, number: int) -> Any:
    """The attempt at an effort of the queue, and then at children of its session."""
    if number == 0:
        effort_id = connection.call("work.add", {"prompt": "go", "skill": "do", "task": TASK})["id"]
    else:
        effort_id = connection.call("spawn.agent", {"parent_session_id": 1, "goal": "look"})["effort_id"]
    connection.call("work.claim", {"worker": worker, "effort_id": effort_id})
    begun = {"effort_id": effort_id, "generation": 1, "driver": "command", "agent_id": worker, "prompt": "go"}
    return connection.call("work.begin", {**begun, "instance": f"keeper{number:02d}"})
