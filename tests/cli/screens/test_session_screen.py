"""`ramet show s1`: one session, as a person wants to know of it."""

import json
import re

import msgspec
import pytest
from tests.cli.command_line import CommandLine

from ramet.cli.times import duration, seconds_between
from ramet.model.record.session import Session

WINDOW = "2f1c0c4e-0000-4000-8000-000000000001"


@pytest.fixture
def asked(ramet: CommandLine) -> CommandLine:
    """A project in which a person asked an agent for something."""
    ramet.ok("project", "add", ".")
    tell(ramet, "SessionStart", source="startup")
    tell(ramet, "UserPromptSubmit", prompt="Mend the cart.\nAll of it.")
    return ramet


def tell(ramet: CommandLine, event: str, **said: object) -> None:
    payload = {"hook_event_name": event, "session_id": WINDOW, "cwd": str(ramet.cwd), **said}
    ramet.ok("rpc", "call", "hooks.event", json.dumps({"vendor": "claude", "payload": json.dumps(payload)}))


def test_it_says_what_was_asked_for_and_what_is_at_work(asked: CommandLine) -> None:
    file = str(asked.cwd / "cart.py")
    tell(asked, "PostToolUse", tool_name="Read", tool_input={"file_path": file}, tool_use_id="t1")
    tell(asked, "PreToolUse", tool_name="Bash", tool_input={"command": "make"}, tool_use_id="t2")
    lines = asked.ok("show", "s1").splitlines()
    assert lines[0].startswith("claude s1: running, started ")
    assert lines[1:6] == [
        "prompt      Mend the cart.",
        "effort      e1 do",
        "task        .ramet/adhoc",
        f"agent       claude:{WINDOW}",
        "tool calls  1 running",
    ]
    assert "files       cart.py" in lines
    assert lines[-1] == "`ramet session log s1` prints its transcript, `ramet history log s1` its history"
    assert asked.ok("session", "show", f"claude:{WINDOW}").splitlines()[1:] == lines[1:]


def test_it_says_how_a_session_ended(asked: CommandLine) -> None:
    tell(asked, "SessionEnd", reason="exit")
    session = msgspec.convert(asked.json("show", "s1"), Session)
    assert session.ended_at is not None
    took = duration(seconds_between(session.created_at, session.ended_at))
    headline = asked.ok("show", "s1").splitlines()[0]
    assert re.fullmatch(rf"claude s1: success after {took}, \d+s ago", headline)


def test_programs_get_all_of_it(asked: CommandLine) -> None:
    assert asked.json("show", "s1") == asked.json("rpc", "call", "db.session.get", json.dumps({"session_id": 1}))


def test_it_prints_the_command_that_opens_the_session_again(asked: CommandLine) -> None:
    resume = f"resume        cd {asked.cwd} && claude --resume {WINDOW}"
    assert resume.split() in [line.split() for line in asked.ok("show", "s1").splitlines()]
