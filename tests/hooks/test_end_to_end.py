"""The real program, a real daemon: what agents said is recorded, and nothing that they say goes wrong inside."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.process import Home
from tests.hooks.conftest import Done, Hook
from tests.vendors.hook_payloads import (
    FOREIGN,
    RECORDED,
    recorded,
    vendor_of,
)
from tests.vendors.hook_schemas import check_schema

from ramet.vendors import registry

NOTHING = Done(0, "", "")


def said(event: str, **fields: Any) -> str:
    return json.dumps({"session_id": "s", "hook_event_name": event, "cwd": "/p", **fields})


HOSTILE = ("/", "//", "/proc/self/environ", "/dev/zero", "/dev/stdin", "/proc/self/root/proc/self", "/x/" + "a/" * 2000)
BAD: tuple[str | bytes, ...] = (
    "",
    "{",
    said("PreToolUse", tool_name="Bash")[:-5],
    said("PreToolUse", cwd="../../etc", tool_name=5),
    said("UserPromptSubmit", session_id="\x00", prompt="x"),
    said("UserPromptSubmit", session_id="s\ud800", prompt="\ud800\x00"),
    said("UserPromptSubmit", prompt="half \ud800 and nothing \x00"),
    said("PreToolUse", tool_name="x" * 10_000),
    said("Stop", last_assistant_message="\x1b" * 900),
    said("PreToolUse", session_id="s" * 200, agent_id="a" * 200),
    said("PostToolUse", tool_name="Read", tool_input={"file_path": "../" * 300 + "etc/passwd"}),
    said("PostToolUse", tool_name="Read", tool_input={"file_path": "/p/\x00\n"}),
    said("PostToolUse", tool_name="Write", tool_input={"file_path": "/p/x", "content": "y" * 3_000_000}),
    said("FromTheFuture", more={"a": [1] * 1000}),
    said("PreToolUse", deep="@").replace('"@"', "[" * 200_000),
    said("UserPromptSubmit", prompt="").encode()[:-2] + b"\xff\xfe\x00\x1b[2J",
    *(said("SessionStart", source="startup", session_id=cwd, cwd=cwd) for cwd in HOSTILE),
    *(said("Stop", session_id="t", transcript_path=path) for path in HOSTILE),
    *(said("PostToolUse", tool_name="Read", tool_input={"file_path": path}) for path in HOSTILE),
)


@pytest.fixture
def home(hook: Hook) -> Iterator[Home]:
    """A daemon's home; the program is told of its socket."""
    home = Home(hook.home)
    hook.program.write_text(hook.program.read_text().replace(str(hook.socket), str(home.socket)))
    yield home
    home.close()


def ask(home: Home, method: str, **params: Any) -> Any:
    answer = home.connect().call(method, **params)
    assert "error" not in answer, answer
    return answer["result"]


def failures(home: Home) -> list[Any]:
    return [row for row in ask(home, "hooks.timings")["items"] if row["failed"]]


def prompts(home: Home) -> list[str]:
    sessions = ask(home, "db.query", sql="SELECT id FROM sessions")["rows"]
    found = [ask(home, "db.messages.list", session_id=row[0])["items"] for row in sessions]
    return [message["content"] for messages in found for message in messages if message["role"] == "user"]


@pytest.mark.requirement("R243", "R244")
def test_every_recorded_payload_is_recorded_without_a_failure_and_answered_in_the_vendor_s_schema(home: Home) -> None:
    home.serve(autostart=False)
    for name in RECORDED:
        vendor = registry.hooks()[vendor_of(name)]
        output = ask(home, "hooks.event", vendor=vendor_of(name), payload=json.dumps(recorded(name)), pid=1)["output"]
        if output is not None:
            check_schema(vendor.read(recorded(name)), output)
    assert failures(home) == []
    assert sum(row["count"] for row in ask(home, "hooks.timings")["items"]) == len(RECORDED)


@pytest.mark.requirement("R242")
def test_what_a_person_typed_reaches_the_history_through_the_program(home: Home, hook: Hook) -> None:
    home.serve(autostart=False)
    for vendor in registry.hooks():
        hook.run(json.dumps(recorded(f"{vendor}/SessionStart{'.startup' * (vendor == 'claude')}.json")), vendor)
        assert hook.run(json.dumps(recorded(f"{vendor}/UserPromptSubmit.json")), vendor) == NOTHING
    assert sorted(prompts(home)) == ["Say hi [[hello]]", "Say hi please [[hello]]"]
    assert not hook.gaps.exists()


@pytest.mark.parametrize("vendor", ["claude", "codex", "somebody"])
def test_bad_payloads_are_allowed_recorded_and_nothing_is_told_that_is_not_ours(
    home: Home, hook: Hook, vendor: str
) -> None:
    home.serve(autostart=False)
    recorded_before = 0
    for payload in BAD:
        assert hook.run(payload, vendor) == NOTHING
        events = ask(home, "events.list", limit=1000)["items"]
        assert len(events) > recorded_before, payload
        recorded_before = len(events)
    assert failures(home) == []
    assert not hook.gaps.exists()


def test_payloads_of_programs_that_we_do_not_know_are_recorded_and_let_through(home: Home, hook: Hook) -> None:
    home.serve(autostart=False)
    for name in FOREIGN:
        assert hook.run(json.dumps(recorded(name)), vendor_of(name)) == NOTHING
    assert failures(home) == []
    assert sum(row["count"] for row in ask(home, "hooks.timings")["items"]) == len(FOREIGN) > 0


def test_hooks_that_are_called_at_once_are_all_heard(home: Home, hook: Hook) -> None:
    home.serve(autostart=False)
    running = [hook.start() for _ in range(20)]
    for number, process in enumerate(running):
        process.communicate(said("UserPromptSubmit", session_id=f"s{number % 5}", prompt=f"{number}").encode())
    assert sorted(map(int, prompts(home))) == list(range(20))
    assert {process.returncode for process in running} == {0}
    assert not hook.gaps.exists()


def test_a_daemon_that_is_killed_in_the_middle_leaves_gaps_and_no_agent_waits(home: Home, hook: Hook) -> None:
    call = json.dumps(recorded("claude/PreToolUse.Bash.json"))
    daemon = home.serve(autostart=False)
    assert hook.run(call) == NOTHING
    daemon.send_signal(signal.SIGKILL)
    daemon.wait()
    assert hook.run(call) == NOTHING
    home.serve(autostart=False)
    assert hook.run(call) == NOTHING
    assert [row["count"] for row in ask(home, "hooks.timings")["items"]] == [1]


def test_a_starting_daemon_renews_the_program_that_speaks_to_it(home: Home, hook: Hook) -> None:
    home.socket = hook.socket
    hook.settings()
    assert "start=()" in hook.program.read_text()
    home.serve(autostart=False)
    after = hook.program.read_text()
    assert "start=()" not in after, "what it was started with is not what the user's own settings say"
    assert f"socket={str(home.socket)!r}" in after
    assert Path(hook.home / "hook").stat().st_mode & 0o777 == 0o700
