"""Large requests are decoded and prepared in a process of their own, and nothing that they are disturbs the others."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.daemon.harness import PATIENCE_SECONDS, Client
from tests.daemon.process import Home

KIB = 1024
LARGE = "some words of a report\n" * 10_000


def commit(client: Client, text: str, **params: Any) -> Any:
    return client.call("history.commit", branch="a", text=text, **params)


def processor_seconds(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


@pytest.fixture
def client(home: Home) -> Client:
    home.serve()
    return home.connect()


def daemon_of(client: Client) -> int:
    return int(client.call("daemon.status")["result"]["pid"])


def preparation_of(daemon: int) -> psutil.Process:
    (child,) = [each for each in psutil.Process(daemon).children() if each.name() == "ramet prepare"]
    return child


@pytest.mark.requirement("R343", "R447")
def test_a_large_text_costs_the_daemon_less_than_its_preparation(client: Client) -> None:
    daemon = daemon_of(client)
    preparation = preparation_of(daemon)
    before = processor_seconds(daemon), processor_seconds(preparation.pid)
    for number in range(5):
        assert "result" in commit(client, f"{number} password = hunter2 " + "to be or not to be, said he\n" * 200_000)
    here, there = processor_seconds(daemon) - before[0], processor_seconds(preparation.pid) - before[1]
    assert there > 0.1
    assert here < 2 * there


@pytest.mark.requirement("R343")
@pytest.mark.parametrize("item", ["[]", "1", '{"a":1}'])
def test_a_request_of_very_many_values_is_refused_and_costs_the_daemon_little(client: Client, item: str) -> None:
    daemon = daemon_of(client)
    before = processor_seconds(daemon)
    values = "[" + ",".join([item] * 400_000) + "]"
    client.send(
        b'{"jsonrpc":"2.0","id":5,"method":"history.commit","params":{"branch":"a","text":"x","metadata":{"a":%s}}}\n'
        % values.encode()
    )
    reply = client.receive()
    assert (reply["id"], reply["error"]["data"]["code"]) == (5, "request_too_large")
    assert "50000 values" in reply["error"]["message"]
    assert processor_seconds(daemon) - before < 1


def test_large_and_short_changes_of_one_connection_take_effect_in_their_order(client: Client) -> None:
    texts = [f"{number} {LARGE if number % 2 else 'short'}" for number in range(20)]
    lines = [
        json.dumps(
            {"jsonrpc": "2.0", "id": number, "method": "history.commit", "params": {"branch": "a", "text": text}}
        )
        for number, text in enumerate(texts)
    ]
    client.send("".join(f"{each}\n" for each in lines).encode())
    assert sorted(client.receive()["id"] for _ in texts) == list(range(20))
    found = client.call("history.compile", branch="a")["result"]["messages"]
    assert [each["content"].split()[0] for each in found] == [str(number) for number in range(20)]


def test_a_large_batch_is_answered_as_one(client: Client) -> None:
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "history.commit", "params": {"branch": "a", "text": LARGE}},
        {"jsonrpc": "2.0", "id": 2, "method": "history.commit", "params": {"branch": "a"}},
        {"jsonrpc": "2.0", "id": 3, "method": "no.such", "params": {}},
        {"jsonrpc": "2.0", "id": 4, "method": "daemon.ping"},
    ]
    client.send(json.dumps(requests).encode() + b"\n")
    replies = {reply["id"]: reply for reply in client.receive()}
    assert "result" in replies[1]
    assert replies[2]["error"]["data"]["code"] == "invalid_params"
    assert replies[3]["error"]["data"]["code"] == "unknown_method"
    assert replies[4]["result"] == {"pong": True}


def test_a_large_request_repeated_with_its_key_gets_the_same_reply(client: Client) -> None:
    first, again = (commit(client, LARGE, idempotency_key="k")["result"] for _ in range(2))
    assert first["hash"] == again["hash"]
    reply = commit(client, LARGE + "!", idempotency_key="k")
    assert reply["error"]["data"]["code"] == "idempotency_conflict"


@pytest.mark.requirement("R343")
def test_without_its_preparation_process_the_daemon_still_takes_large_requests(client: Client) -> None:
    preparation = preparation_of(daemon_of(client))
    preparation.send_signal(signal.SIGSTOP)
    client.ask("history.commit", 1, branch="a", text=LARGE)
    assert client.socket.fileno() > 0
    preparation.kill()
    reply = client.receive()  # an error, or the reply of the thread if the daemon noticed first
    assert reply["id"] in {None, 1}
    assert "result" in commit(client, LARGE)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_preparation_process_ends_with_its_daemon(home: Home, number: signal.Signals) -> None:
    daemon = home.serve()
    preparation = preparation_of(daemon.pid)
    os.kill(daemon.pid, number)
    daemon.wait(PATIENCE_SECONDS)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while Path(f"/proc/{preparation.pid}").exists() and preparation.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.01)
