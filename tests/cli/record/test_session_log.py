"""Reading a session's transcript on the command line."""

import json

import pytest
from tests.cli.command_line import CommandLine

from ramet.client.autostart import connect


@pytest.fixture
def talk(ramet: CommandLine) -> CommandLine:
    """A session s1 in which five things were said."""
    ramet.ok("project", "add", ".")
    ramet.ok("task", "add", "login")
    ramet.begin_effort("login", "implement")
    ramet.ok("session", "start", "login", "e1")
    for number in range(5):
        message = {"session_id": 1, "role": "user", "content": f"say {number}"}
        ramet.ok("rpc", "call", "db.messages.append", json.dumps(message))
    return ramet


def said(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("say ")]


def test_a_log_shows_the_end_of_a_transcript_and_counts_what_is_earlier(talk: CommandLine) -> None:
    done = talk("session", "log", "s1", "--tail", "2")
    assert said(done.stdout) == ["say 3", "say 4"]
    assert done.stderr == "3 earlier messages not shown; --all shows every message\n"
    assert said(talk.ok("session", "log", "s1")) == said(talk.ok("session", "log", "s1", "--all"))


def test_a_log_shows_the_last_100_messages_by_default(talk: CommandLine) -> None:
    with connect(talk.json("daemon", "status")["socket"]) as connection:
        message = {"session_id": 1, "role": "user", "content": "say more"}
        connection.call_many([("db.messages.append", message)] * 98)
    done = talk("session", "log", "s1")
    assert (len(said(done.stdout)), said(done.stdout)[:2]) == (100, ["say 3", "say 4"])
    assert done.stderr.startswith("3 earlier messages not shown")


def test_a_tail_may_be_longer_than_a_page(talk: CommandLine) -> None:
    talk.ok("daemon", "stop")
    talk.environ["RAMET_LIMITS_PAGE_MAX"] = "2"
    done = talk("session", "log", "s1", "--tail", "4")
    assert said(done.stdout) == ["say 1", "say 2", "say 3", "say 4"]
    assert done.stderr.startswith("1 earlier message not shown")
    assert len(said(talk.ok("session", "log", "s1", "--all"))) == 5


def test_programs_page_from_the_start_as_before(talk: CommandLine) -> None:
    first = talk.json("session", "log", "s1", "--limit", "3")
    assert ([row["content"] for row in first["items"]], first["next"]) == (["say 0", "say 1", "say 2"], 3)
    rest = talk.json("session", "log", "s1", "--offset", str(first["next"]))
    assert ([row["content"] for row in rest["items"]], rest["next"]) == (["say 3", "say 4"], None)
    assert talk.json("session", "log", "s1")["earlier"] == 0
    assert talk.json("session", "log", "s1", "--tail", "1")["earlier"] == 4
    assert "more messages follow: --offset 3" in talk("session", "log", "s1", "--limit", "3").stderr


@pytest.mark.parametrize("arguments", [("--tail", "2", "--all"), ("--all", "--limit", "3"), ("--tail", "0")])
def test_two_ways_to_choose_messages_are_a_usage_error(offline: CommandLine, arguments: tuple[str, ...]) -> None:
    assert offline("session", "log", "s1", *arguments).returncode == 2
