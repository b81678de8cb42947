"""Whatever bytes arrive, the daemon answers each line and lives."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.daemon.harness import Client, line, running_server

from ramet.config.settings import DaemonSettings

LARGEST = 4096

REQUESTS = [
    line("daemon.ping", 1),
    line("db.effort.start", 2, task_id="/p/t", skill="plan", metadata={"a": [1, {"b": None}]}),
    line("db.messages.append", "x", session_id="claude:1", role="user", content="Grüße 日本 \u2028 \U0001f331"),
    line("db.skills.upsert", None, name="s", project_id=1, phases=["1: A", {"label": "2: B"}]),
    line("db.query", 5.5, sql="SELECT 1", params=[1, "a", None, True, 2.5]),
    b'[{"jsonrpc":"2.0","id":1,"method":"daemon.ping"},{"jsonrpc":"2.0","method":"daemon.ping"}]\n',
]

ODDITIES = [
    b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x00", b"\r", b"\n", b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"-",
    b"1e999", b"-0", b"18446744073709551616", b"NaN", b"null", b"true", b"\\u0000", b"\\ud800", b"[" * 3000,
    b'{"a":' * 600, b" " * LARGEST, b"x" * (2 * LARGEST), b'"id":', b'"method":', b'"params":',
]  # fmt: skip


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    directory: Path = tmp_path_factory.mktemp("f")
    with running_server(directory / "s", settings=DaemonSettings(max_request_bytes=LARGEST)) as server:
        yield server.connect()


def _exchange(client: Client, data: bytes) -> list[Any]:
    """Send the bytes as lines, and return the replies that come before that of a closing ping."""
    client.send(data.removesuffix(b"\n") + b"\n" + line("daemon.ping", "the end"))
    replies: list[Any] = []
    while (reply := client.receive()) is None or not (isinstance(reply, dict) and reply["id"] == "the end"):
        assert reply is not None, "the daemon closed the connection"
        replies.append(reply)
    return replies


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data.decode())
    except (ValueError, RecursionError):
        return False
    return True


def _check(data: bytes, replies: list[Any]) -> None:
    """Each line has at most one reply, and one that is not JSON has exactly one, an error without an id."""
    lines = [part for part in data.split(b"\n") if part.strip()]
    spoiled = [part for part in lines if len(part) > LARGEST or not _is_json(part)]
    refused = [reply for reply in replies if isinstance(reply, dict) and "error" in reply and reply["id"] is None]
    assert len(spoiled) <= len(refused)
    assert len(replies) <= len(lines) + data.count(b" " * LARGEST)
    for reply in replies:
        for one in reply if isinstance(reply, list) else [reply]:
            assert one["jsonrpc"] == "2.0"
            assert ("result" in one) != ("error" in one)
            assert one.get("error", {}).get("data", {}).get("code") != "failed"


def _mutate(chance: random.Random, data: bytes) -> bytes:
    """Cut, double, overwrite or insert something, a few times."""
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) + 1)
        match chance.randrange(5):
            case 0:
                data = data[:at]
            case 1:
                data = data[:at] + chance.choice(ODDITIES) + data[at:]
            case 2:
                data = data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
            case 3:
                data = data[:at] + data[at + chance.randint(1, 20) :]
            case _:
                data = data[:at] + chance.choice(REQUESTS) + data[at:]
    return data


@pytest.mark.requirement("R257", "R317")
def test_thousands_of_spoiled_requests_are_answered(client: Client) -> None:
    chance = random.Random(317)
    for _ in range(5000):
        data = _mutate(chance, chance.choice(REQUESTS))
        _check(data, _exchange(client, data))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.requirement("R257", "R317")
@settings(max_examples=500, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200))
def test_any_bytes_are_answered(client: Client, data: bytes) -> None:
    _check(data, _exchange(client, data))


@pytest.mark.requirement("R253", "R317")
@settings(max_examples=500)
@given(
    method=st.sampled_from(["daemon.ping", "db.effort.start", "db.messages.append", "db.query", "events.list", ""]),
    request_id=JSON_VALUES,
    params=JSON_VALUES | st.dictionaries(st.sampled_from(["task_id", "skill", "sql", "after", "limit"]), JSON_VALUES),
)
def test_any_values_in_any_place_are_answered(client: Client, method: str, request_id: Any, params: Any) -> None:
    document = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    data = json.dumps(document).encode()
    replies = _exchange(client, data)
    assert len(replies) == 1
    _check(data, replies)
