"""A batch is an array of requests that is answered by an array."""

import json
from typing import Any

from tests.daemon.harness import Client, RunningServer


def _call(client: Client, *documents: Any) -> Any:
    client.send(json.dumps(documents).encode() + b"\n")
    return client.receive()


def _request(method: str, request_id: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def test_a_batch_is_answered_together(client: Client) -> None:
    replies = _call(client, _request("daemon.ping", 1), _request("db.agents.get", 2, id="a"), _request("x", 3))
    assert {reply["id"]: "error" in reply for reply in replies} == {1: False, 2: False, 3: True}


def test_what_is_wrong_inside_a_batch_does_not_harm_the_rest(client: Client) -> None:
    replies = _call(client, 17, {"id": "mine"}, _request("daemon.ping", 5))
    assert [reply["id"] for reply in replies if "error" in reply] == [None, "mine"]
    assert [reply["id"] for reply in replies if "result" in reply] == [5]


def test_an_empty_batch_is_not_a_request(client: Client) -> None:
    assert _call(client)["error"]["data"]["code"] == "invalid_request"


def test_a_batch_of_notifications_is_not_answered(client: Client) -> None:
    ping = {"jsonrpc": "2.0", "method": "daemon.ping"}
    client.send(json.dumps([ping, ping]).encode() + b"\n")
    assert client.call("daemon.ping", 6)["id"] == 6


def test_a_batch_beyond_the_limit_is_refused_as_a_whole(server: RunningServer, client: Client) -> None:
    reply = _call(client, *[_request("db.agents.get", number, id="a") for number in range(1001)])
    assert reply["error"]["data"]["code"] == "invalid_request"
    assert server.database.started == 0


def test_a_batch_takes_effect_in_its_order(server: RunningServer, client: Client) -> None:
    seen: list[str] = []
    server.database.answer = lambda request: seen.append(request.id)
    _call(client, *[_request("db.agents.register", number, id=str(number)) for number in range(50)])
    assert seen == [str(number) for number in range(50)]
