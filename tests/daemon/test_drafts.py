"""A change for which the daemon reads a history first: in its order, once, and with its own errors."""

from typing import Any

import pytest
from tests.daemon.harness import Client, line
from tests.daemon.process import Home

SAID = ("the cart is lost", "the browser closed", "move it to the account")


@pytest.fixture
def client(home: Home) -> Client:
    home.serve()
    return home.connect()


def say(client: Client, branch: str = "main") -> list[str]:
    return [client.call("history.commit", branch=branch, text=text)["result"]["hash"] for text in SAID]


def read(client: Client, branch: str) -> str:
    messages = client.call("history.compile", branch=branch, format="text")["result"]["messages"]
    return "\n".join(message["content"] for message in messages)


def test_a_child_inherits_what_was_committed_before_it_on_the_same_connection_and_nothing_later(client: Client) -> None:
    child: dict[str, Any] = {"parent": "main", "child": "kid", "purpose": "look"}
    client.send(
        line("history.commit", 1, branch="main", text="said before")
        + line("history.spawn", 2, **child)
        + line("history.commit", 3, branch="main", text="said after")
    )
    assert [client.receive()["id"] for _ in range(3)] == [1, 2, 3]
    assert "said before" in read(client, "kid")
    assert "said after" not in read(client, "kid")


def test_a_range_is_compressed_to_its_extract(client: Client) -> None:
    said = say(client)
    done = client.call("history.compress", branch="main", **{"from": said[0], "to": said[1]})["result"]
    assert done["depth"] == 4
    assert read(client, "main").startswith("[User]\n- user: the cart is lost")


def test_a_change_is_made_once_for_its_idempotency_key(client: Client) -> None:
    said = say(client)
    wanted = {"branch": "main", "from": said[0], "to": said[1], "idempotency_key": "once"}
    first = client.call("history.compress", **wanted)["result"]
    assert client.call("history.compress", **wanted)["result"] == first
    assert client.call("history.log", branch="main")["result"]["items"][0]["hash"] == first["hash"]
    client.call("history.delete", branch="main")
    assert client.call("history.compress", **wanted)["result"] == first


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("history.compress", {"branch": "none", "from": "0000", "to": "0000"}, "branch_not_found"),
        ("history.compress", {"branch": "main", "from": "0000", "to": "0000"}, "commit_not_found"),
        ("history.spawn", {"parent": "none", "child": "kid", "purpose": "look"}, "branch_not_found"),
        ("history.spawn", {"parent": "main", "child": "kid", "purpose": "look", "inherit": "selective"}, "spawn_error"),
        ("history.spawn", {"parent": "main", "child": "main", "purpose": "look"}, "spawn_cycle"),
    ],
)
def test_a_refusal_is_that_of_the_change(client: Client, method: str, params: dict[str, Any], code: str) -> None:
    say(client)
    assert client.call(method, **params)["error"]["data"]["code"] == code
    assert client.call("history.branches")["result"]["items"][0]["name"] == "main"
