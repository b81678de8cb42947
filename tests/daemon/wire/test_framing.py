"""The wire: one JSON document per line, whatever the reads and writes look like, and whatever the client sends."""

import json
import socket

import pytest
from tests.daemon.conftest import Serve
from tests.daemon.harness import Client, RunningServer, line

from ramet.config.settings import DaemonSettings


def _code(reply: dict[str, object]) -> str:
    error = reply["error"]
    assert isinstance(error, dict)
    return str(error["data"]["code"])


@pytest.mark.requirement("R256")
def test_one_connection_serves_many_requests(client: Client) -> None:
    for number in range(5):
        assert client.call("daemon.ping", number) == {"jsonrpc": "2.0", "id": number, "result": {"pong": True}}


@pytest.mark.requirement("R256")
def test_a_request_may_arrive_byte_by_byte(client: Client) -> None:
    for byte in line("db.task.list", 7):
        client.send(bytes([byte]))
    assert client.receive()["id"] == 7


@pytest.mark.requirement("R256")
def test_several_requests_may_arrive_at_once(client: Client) -> None:
    client.send(b"".join(line("daemon.ping", number) for number in range(300)))
    assert [client.receive()["id"] for _ in range(300)] == list(range(300))


@pytest.mark.requirement("R257")
@pytest.mark.parametrize("request_id", [0, -1, 2**70, 1.5, "", 'é\n"', None])
def test_the_id_comes_back_as_it_was(client: Client, request_id: object) -> None:
    assert client.call("daemon.ping", request_id)["id"] == request_id
    assert client.call("no.such", request_id)["id"] == request_id


@pytest.mark.requirement("R257")
@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"{", "parse_error"),
        (b"hello", "parse_error"),
        (b'{"jsonrpc":"2.0","id":1,"method":"daemon.ping"} extra', "parse_error"),
        (b'{"jsonrpc":"2.0","id":1,"method":"daemon.ping","x":"\xff"}', "parse_error"),
        (b'\xff\xfe{"id":1}', "parse_error"),
        (b'{"jsonrpc":"2.0","id":1,"method":"db.task.list","params":' + b"[" * 100_000, "parse_error"),
        (b"[" * 100_000 + b"]" * 100_000, "parse_error"),
        (b"17", "invalid_request"),
        (b"null", "invalid_request"),
        (b'{"jsonrpc":"2.0","id":1}', "invalid_request"),
        (b'{"jsonrpc":"1.0","id":1,"method":"daemon.ping"}', "invalid_request"),
        (b'{"jsonrpc":"2.0","id":[1],"method":"daemon.ping"}', "invalid_request"),
        (b'{"jsonrpc":"2.0","id":1,"method":17}', "invalid_request"),
        (b'{"jsonrpc":"2.0","id":1,"method":"no.such.thing"}', "unknown_method"),
        (b'{"jsonrpc":"2.0","id":1,"method":"daemon.ping","params":[]}', "invalid_params"),
        (b'{"jsonrpc":"2.0","id":1,"method":"daemon.ping","params":{"x":1}}', "invalid_params"),
        (b'{"jsonrpc":"2.0","id":1,"method":"db.agents.get","params":{"id":"\xff"}}', "parse_error"),
    ],
)
def test_what_is_not_a_request_is_answered_and_the_connection_lives_on(client: Client, sent: bytes, code: str) -> None:
    client.send(sent + b"\n")
    assert _code(client.receive()) == code
    assert client.call("daemon.ping")["result"] == {"pong": True}


@pytest.mark.requirement("R257")
def test_an_invalid_request_gets_its_own_id_back(client: Client) -> None:
    client.send(b'{"jsonrpc":"2.0","id":"mine"}\n')
    assert client.receive()["id"] == "mine"


@pytest.mark.requirement("R253")
def test_a_wrong_parameter_is_named(client: Client) -> None:
    error = client.call("db.effort.finish", effort_id="twelve")["error"]
    assert (error["code"], error["data"]["field"], error["data"]["value"]) == (-32602, "effort_id", "twelve")


@pytest.mark.requirement("R253")
def test_an_unknown_method_is_a_typed_error(client: Client) -> None:
    error = client.call("db.effort.begin")["error"]
    assert (error["code"], error["data"]["code"], error["data"]["field"]) == (-32601, "unknown_method", "method")


@pytest.mark.requirement("R257")
def test_an_oversize_line_is_refused_once_and_the_next_is_served(serve: Serve) -> None:
    client = serve(settings=DaemonSettings(max_request_bytes=2000)).connect()
    client.send(b"x" * 1_000_000 + b"\n" + line("daemon.ping", 8))
    refused = client.receive()
    assert (_code(refused), refused["id"]) == ("request_too_large", None)
    assert client.receive()["id"] == 8


@pytest.mark.requirement("R257")
def test_a_line_of_exactly_the_largest_size_is_served(serve: Serve) -> None:
    client = serve(settings=DaemonSettings(max_request_bytes=2000)).connect()
    padded = line("daemon.ping", 8).rstrip().ljust(2000)
    client.send(padded + b"\n" + padded + b" \n")
    assert client.receive()["id"] == 8
    assert _code(client.receive()) == "request_too_large"


def test_blank_lines_are_ignored(client: Client) -> None:
    client.send(b"\n \t\r\n\r\n" + line("daemon.ping", 3).replace(b"\n", b"\r\n"))
    assert client.receive()["id"] == 3


def test_a_notification_is_done_and_not_answered(server: RunningServer, client: Client) -> None:
    for method, params in (("db.agents.register", {"id": "a"}), ("no.such", {}), ("db.agents.get", {"id": 7})):
        client.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode() + b"\n")
    assert client.call("daemon.ping", 9)["id"] == 9
    assert server.database.started == 1


def test_a_client_that_has_finished_sending_still_gets_its_replies(server: RunningServer) -> None:
    server.database.holds = True
    client = server.connect()
    client.ask("db.agents.register", 1, id="a")
    client.socket.shutdown(socket.SHUT_WR)
    server.database.wait_started(1)
    server.release()
    assert client.receive()["id"] == 1
    assert client.receive() is None


def test_an_error_that_nobody_foresaw_tells_nothing_and_ends_nothing(server: RunningServer, client: Client) -> None:
    def fail(request: object) -> object:
        raise ValueError("the secret is 1234")

    server.database.answer = fail
    error = client.call("db.agents.list")["error"]
    assert error["data"]["code"] == "failed"
    assert "1234" not in json.dumps(error)
    assert client.call("daemon.ping")["result"] == {"pong": True}


def test_a_reply_that_cannot_be_encoded_is_an_internal_error(server: RunningServer, client: Client) -> None:
    server.database.answer = lambda request: object()
    assert _code(client.call("db.agents.list")) == "failed"
    assert client.call("daemon.ping")["result"] == {"pong": True}
