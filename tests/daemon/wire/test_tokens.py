"""Tokens: whose connection it is, and what an agent may do with its own."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.harness import KEY, Client, RunningServer
from tests.protocol.least_params import least_params

from ramet.daemon.wire.tokens import KEY_FILE, Tokens, read_key
from ramet.errors import Forbidden, KeyUnsafe
from ramet.model.principal import asking_session, of_session
from ramet.model.redaction import Redactor
from ramet.protocol.operations import OPERATIONS


@pytest.fixture
def tokens(server: RunningServer) -> Tokens:
    """The server's."""
    return Tokens(KEY, str(server.path))


def test_a_token_is_its_sessions_alone_and_the_same_after_a_restart() -> None:
    tokens, after = Tokens(KEY, "/run/s"), Tokens(KEY, "/run/s")
    assert after.check(tokens.make(12)) == 12
    assert tokens.make(12) != tokens.make(13)


@pytest.mark.requirement("R131")
@pytest.mark.parametrize(
    "forged",
    [
        "",
        "s12",
        "s12.",
        "s12." + "0" * 64,
        Tokens(KEY, "/run/s").make(13).replace("s13", "s12"),
        Tokens(b"x" * 32, "/run/s").make(12),
        Tokens(KEY, "/run/other").make(12),
        Tokens(KEY, "/run/s").make(12).upper(),
        Tokens(KEY, "/run/s").make(12) + "\n",
        "s" + "9" * 30 + "." + "0" * 64,
    ],
)
def test_what_is_no_token_of_this_daemon_is_nobodys(forged: str) -> None:
    assert Tokens(KEY, "/run/s").check(forged) is None


def test_the_key_is_made_once_whoever_comes_first_and_is_the_users_alone(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        (key,) = set(threads.map(lambda _: read_key(tmp_path), range(8)))
    assert (len(key), read_key(tmp_path)) == (32, key)
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]


@pytest.mark.requirement("R365")
def test_only_a_persons_client_says_in_which_environment_children_run(
    server: RunningServer, client: Client, tokens: Tokens
) -> None:
    client.call("daemon.hello", environment={"PATH": "/theirs"})
    (connection,) = server.server._connections
    assert connection.environment == {"PATH": "/theirs"}
    client.call("daemon.hello", token=tokens.make(12), environment={"PATH": "/of/the/agent"})
    assert connection.environment == {}


def test_a_token_in_a_text_is_taken_out_before_it_is_stored() -> None:
    token = Tokens(KEY, "/run/s").make(12)
    assert token not in Redactor().redact(f"RAMET_TOKEN={token}").text


def test_a_principal_says_whose_session_asks() -> None:
    assert asking_session(of_session(12)) == 12
    assert asking_session("user") is asking_session("runner") is None


def test_a_connection_with_a_token_speaks_for_its_session(
    server: RunningServer, client: Client, tokens: Tokens
) -> None:
    assert client.call("daemon.hello", token=tokens.make(12))["result"]["principal"] == "session:12"
    client.call("spawn.results", session_ids=[12])
    client.call("spawn.report", report={"summary": "done"})
    assert server.database.principals == ["session:12"] * 3  # the first asks whether the session has ended


def test_a_connection_that_says_no_token_is_the_users(server: RunningServer, client: Client, tokens: Tokens) -> None:
    assert client.call("daemon.hello")["result"]["principal"] == "user"
    client.call("db.project.list")
    assert server.database.principals == ["user"]


def test_an_agent_is_refused_what_is_the_users(server: RunningServer, client: Client, tokens: Tokens) -> None:
    client.call("daemon.hello", token=tokens.make(12))
    users = [name for name, row in OPERATIONS.items() if not row.is_for_agents]
    codes = {name: client.call(name)["error"]["data"]["code"] for name in users}
    assert set(codes.values()) == {"forbidden", "invalid_params"}  # where something is missing, that is said first
    assert {name for name, code in codes.items() if code == "forbidden"} >= {
        *("daemon.stop", "db.project.list", "events.subscribe", "work.run", "work.stop", "history.gc", "spawn.tend"),
    }
    assert server.database.started == 1  # the greeting


def test_a_greeting_without_a_token_does_not_set_an_agent_free(client: Client, tokens: Tokens) -> None:
    client.call("daemon.hello", token=tokens.make(12))
    assert client.call("daemon.hello")["result"]["principal"] == "session:12"
    assert client.call("daemon.stop")["error"]["data"]["code"] == "forbidden"


@pytest.mark.requirement("R131")
def test_a_wrong_token_leaves_a_connection_that_may_do_nothing_but_greet_again(
    server: RunningServer, client: Client, tokens: Tokens
) -> None:
    assert client.call("daemon.hello", token="s12.forged")["error"]["data"]["code"] == "forbidden"
    for method, params in (("daemon.ping", {}), ("db.project.list", {}), ("spawn.results", {"session_ids": [12]})):
        assert client.call(method, **params)["error"]["data"]["code"] == "forbidden"
    assert client.call("daemon.hello")["error"]["data"]["code"] == "forbidden"
    assert server.database.started == 0
    assert client.call("daemon.hello", token=tokens.make(12))["result"]["principal"] == "session:12"


def test_a_connection_binds_itself_and_no_other(server: RunningServer, client: Client, tokens: Tokens) -> None:
    client.call("daemon.hello", token=tokens.make(12))
    server.connect().call("db.project.list")
    assert server.database.principals == ["session:12", "user"]


# The agents' own socket.


@pytest.mark.requirement("R334")
def test_on_the_agents_socket_every_call_needs_a_token(server: RunningServer, tokens: Tokens) -> None:
    agent = server.connect(is_agent=True)
    mine = [name for name, row in OPERATIONS.items() if row.is_for_agents and name != "daemon.hello"]
    for name in mine:
        code = agent.call(name, **_least(name))["error"]["data"]["code"]
        assert code == "forbidden", name
    assert agent.call("daemon.hello")["error"]["data"]["code"] == "forbidden"
    assert agent.call("daemon.hello", token=tokens.make(12) + "0")["error"]["data"]["code"] == "forbidden"
    assert server.database.started == 0
    assert agent.call("daemon.hello", token=tokens.make(12))["result"]["principal"] == "session:12"
    assert "result" in agent.call("daemon.ping")


@pytest.mark.requirement("R334")
@pytest.mark.parametrize("has_token", [False, True])
def test_administration_does_not_exist_on_the_agents_socket(
    server: RunningServer, tokens: Tokens, has_token: bool
) -> None:
    agent = server.connect(is_agent=True)
    if has_token:
        agent.call("daemon.hello", token=tokens.make(12))
    before = server.database.started
    for name in [name for name, row in OPERATIONS.items() if not row.is_for_agents]:
        code = agent.call(name, **_least(name))["error"]["data"]["code"]
        assert code == "unknown_method", name
    assert server.database.started == before


def _least(name: str) -> dict[str, Any]:
    """The fewest parameters that an operation takes."""
    return least_params(OPERATIONS[name])


@pytest.mark.requirement("R336")
def test_the_token_of_a_session_that_has_ended_is_refused_at_the_door(server: RunningServer, tokens: Tokens) -> None:
    server.database.answer = lambda _request: Forbidden("session 12 has ended", field="token")
    agent = server.connect(is_agent=True)
    assert agent.call("daemon.hello", token=tokens.make(12))["error"]["data"]["code"] == "forbidden"
    assert agent.call("daemon.ping")["error"]["data"]["code"] == "forbidden"


@pytest.mark.requirement("R336")
@pytest.mark.parametrize("mode", [0o644, 0o660, 0o602])
def test_a_key_that_others_may_know_is_refused(tmp_path: Path, mode: int) -> None:
    read_key(tmp_path)
    (tmp_path / KEY_FILE).chmod(mode)
    with pytest.raises(KeyUnsafe, match=f"{mode:04o}") as refusal:
        read_key(tmp_path)
    assert "rm " in str(refusal.value.fix)


@pytest.mark.requirement("R336")
@pytest.mark.parametrize("content", [b"", b"k" * 31, b"k" * 33, b"k" * 1_000_000])
def test_a_key_of_another_size_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / KEY_FILE
    file.touch(0o600)
    file.write_bytes(content)
    with pytest.raises(KeyUnsafe, match=f"{len(content)} bytes"):
        read_key(tmp_path)


@pytest.mark.requirement("R336")
def test_a_key_is_read_through_no_link_and_from_no_pipe(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    read_key(other)
    (tmp_path / KEY_FILE).symlink_to(other / KEY_FILE)
    with pytest.raises(KeyUnsafe):
        read_key(tmp_path)
    (tmp_path / KEY_FILE).unlink()
    (tmp_path / KEY_FILE).symlink_to(tmp_path / "nowhere")
    with pytest.raises(KeyUnsafe):
        read_key(tmp_path)
    (tmp_path / KEY_FILE).unlink()
    os.mkfifo(tmp_path / KEY_FILE, 0o600)
    with pytest.raises(KeyUnsafe):
        read_key(tmp_path)


@pytest.mark.requirement("R336")
def test_another_key_ends_every_token_and_every_connection_that_one_opened(
    server: RunningServer, tmp_path: Path
) -> None:
    kept = Tokens.of_home(tmp_path, str(server.path))
    server.in_loop(lambda: setattr(server.server, "_tokens", kept))
    old = kept.make(12)
    agent, user = server.connect(is_agent=True), server.connect()
    assert "result" in agent.call("daemon.hello", token=old)
    assert user.call("daemon.rotate_key")["result"] == {"disconnected": 1}
    assert agent.receive() is None
    assert server.connect(is_agent=True).call("daemon.hello", token=old)["error"]["data"]["code"] == "forbidden"
    assert "result" in server.connect(is_agent=True).call("daemon.hello", token=kept.make(12))
    assert read_key(tmp_path) != KEY
