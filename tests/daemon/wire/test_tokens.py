"""Tokens: whose connection it is, and what an agent may do with its own."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.daemon.harness import KEY, Client, RunningServer

from ramet.daemon.wire.tokens import KEY_FILE, Tokens, read_key
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
    assert server.database.principals == ["session:12"] * 2


def test_a_connection_that_says_no_token_is_the_users(server: RunningServer, client: Client, tokens: Tokens) -> None:
    assert client.call("daemon.hello")["result"]["principal"] == "user"
    client.call("db.project.list")
    assert server.database.principals == ["user"]


def test_an_agent_is_refused_what_is_the_users(server: RunningServer, client: Client, tokens: Tokens) -> None:
    client.call("daemon.hello", token=tokens.make(12))
    users = [name for name, row in OPERATIONS.items() if row.scope == "user"]
    codes = {name: client.call(name)["error"]["data"]["code"] for name in users}
    assert set(codes.values()) == {"forbidden", "invalid_params"}  # where something is missing, that is said first
    assert {name for name, code in codes.items() if code == "forbidden"} >= {
        *("daemon.stop", "db.project.list", "events.subscribe", "work.run", "work.stop", "history.gc", "spawn.tend"),
    }
    assert server.database.started == 0


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
    assert server.database.principals == ["user"]
