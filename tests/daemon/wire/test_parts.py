"""A request that is larger than a line comes in parts, and is performed as if it had come whole."""

import json
from typing import Any

import pytest
from tests.daemon.conftest import Serve
from tests.daemon.harness import KEY, Client, Database, RunningServer, line
from tests.daemon.process import Home, resident_bytes, wait_until

from ramet.client.connection import Connection
from ramet.config.settings import DaemonSettings
from ramet.daemon.wire.tokens import Tokens
from ramet.errors import RequestTooLarge

KIB = 1024
MIB = 1024 * 1024
SMALL = DaemonSettings(max_request_bytes=20 * KIB, max_parts_bytes=100 * KIB, drain_seconds=1)
CHANGE = {"branch": "a", "text": "x" * (50 * KIB)}


def part(index: int, text: str, *, is_last: bool = False, request: str = "r") -> bytes:
    return line("daemon.part", f"p{index}", request=request, index=index, text=text, is_last=is_last)


def parts_of(method: str, request_id: int, count: int, **params: Any) -> list[bytes]:
    """The lines of a request in so many parts."""
    text = line(method, request_id, **params).decode()
    length = -(-len(text) // count)
    pieces = [text[start : start + length] for start in range(0, len(text), length)]
    return [part(index, piece, is_last=index == len(pieces) - 1) for index, piece in enumerate(pieces)]


def error_of(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = client.receive()["error"]["data"]
    return found


@pytest.mark.requirement("R460")
def test_a_request_in_parts_takes_effect_where_its_last_part_came(serve: Serve) -> None:
    server = serve(settings=SMALL)
    client = server.connect()
    before, *others, last = parts_of("history.commit", 7, 5, **CHANGE)
    client.send(before + line("daemon.ping", 1) + b"".join(others) + last + line("db.agents.register", 8, id="a"))
    ids = [client.receive()["id"] for _ in range(8)]
    assert ids == ["p0", 1, "p1", "p2", "p3", "p4", 7, 8]


@pytest.mark.requirement("R460")
def test_the_client_sends_a_large_request_in_parts_by_itself(serve: Serve) -> None:
    server = serve(settings=SMALL)
    text = 'ä"\\\n\U0001f600' * (3 * KIB)
    with Connection(server.path, timeout_seconds=20) as connection:
        replies = [connection.call("history.commit", {"branch": "a", "text": text}) for _ in range(2)]
        encoded = json.dumps({"branch": "a", "text": text}, ensure_ascii=False).encode()
        raw = json.loads(connection.call_raw("history.commit", encoded))["result"]
        assert connection.call("daemon.ping") == {"pong": True}
    assert [reply["echo"]["text"] for reply in (*replies, raw)] == [text] * 3


def test_a_request_that_is_too_large_even_in_parts_names_the_key(serve: Serve) -> None:
    server = serve(settings=SMALL)
    with Connection(server.path, timeout_seconds=20) as connection:
        with pytest.raises(RequestTooLarge, match="102400") as refusal:
            connection.call("history.commit", {"branch": "a", "text": "x" * (200 * KIB)})
        assert "daemon.max_parts_bytes" in (refusal.value.fix or "")
        assert connection.call("daemon.ping") == {"pong": True}
    assert server.database.started == 0


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([part(1, "a")], id="without the first"),
        pytest.param([part(0, "a"), part(2, "b", is_last=True)], id="one is missing"),
        pytest.param([part(0, "a"), part(1, "b"), part(1, "b", is_last=True)], id="one comes twice"),
        pytest.param([part(0, "a"), part(0, "b", is_last=True)], id="started again"),
        pytest.param([part(0, "a"), part(1, "b", is_last=True, request="other")], id="of two requests"),
    ],
)
def test_parts_that_do_not_follow_each_other_are_refused_and_forgotten(serve: Serve, lines: list[bytes]) -> None:
    server = serve(settings=SMALL)
    client = server.connect()
    client.send(b"".join(lines))
    for _ in lines[:-1]:
        assert "result" in client.receive()
    assert (found := error_of(client))["field"] == "index"
    assert "starting with index 0" in found["fix"]
    client.send(b"".join(parts_of("daemon.ping", 5, 2)))
    assert [client.receive()["id"] for _ in range(3)] == ["p0", "p1", 5]
    assert server.in_loop(lambda: server.server.parts_intake.unfinished_bytes) == 0


def test_parts_that_make_no_request_are_answered_like_such_a_line(serve: Serve) -> None:
    client = serve(settings=SMALL).connect()
    client.send(part(0, "{not ") + part(1, "json", is_last=True))
    assert [client.receive()["id"] for _ in range(2)] == ["p0", "p1"]
    assert error_of(client)["code"] == "parse_error"


@pytest.mark.requirement("R343", "R460")
def test_parts_that_are_never_finished_are_refused_when_they_are_too_old(serve: Serve) -> None:
    server = serve(settings=DaemonSettings(max_unfinished_seconds=1, drain_seconds=1))
    client = server.connect()
    client.send(part(0, "a"))
    assert client.receive()["id"] == "p0"
    assert error_of(client)["code"] == "too_much_input"
    assert client.receive() is None


def test_an_agent_sends_parts_only_with_its_token_and_only_of_what_it_may_ask(serve: Serve) -> None:
    server: RunningServer = serve(settings=SMALL, database=Database())
    agent = server.connect(is_agent=True)
    agent.send(part(0, "a"))
    assert error_of(agent)["code"] == "forbidden"
    server.database.answer = lambda _: {"id": 1}
    assert "result" in agent.call("daemon.hello", token=Tokens(KEY, str(server.path)).make(1))
    agent.send(b"".join(parts_of("daemon.stop", 3, 2)))
    assert [agent.receive()["id"] for _ in range(2)] == ["p0", "p1"]
    assert error_of(agent)["code"] == "unknown_method"


@pytest.mark.requirement("R343", "R460")
def test_a_text_of_twenty_megabytes_is_stored_without_its_secrets(home: Home) -> None:
    home.serve()
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5"
    words = 'some words of a long report, and "quotes"\n' * 260_000
    with Connection(home.socket, timeout_seconds=60) as connection:
        pid = connection.call("daemon.status")["pid"]
        before = resident_bytes(pid)
        connection.call("history.commit", {"branch": "a", "text": words + secret + words})
        size = connection.call("db.query", {"sql": "SELECT size FROM blobs ORDER BY id DESC LIMIT 1"})["rows"][0][0]
        assert size > 20_000_000
        found = connection.call("history.compile", {"branch": "a"})["messages"][0]["content"]
        assert len(found) == size
        assert found.startswith(words)
        assert secret not in found
        wait_until(lambda: resident_bytes(pid) < before + 100 * MIB)
