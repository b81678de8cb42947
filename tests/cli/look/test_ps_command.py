"""`ramet ps`: the fleet, and with --watch whenever something in it has changed."""

import json
import os
import pty
import signal
import subprocess
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import pytest
from tests.cli.command_line import CommandLine
from tests.cli.terminal import at_terminal
from tests.cli.waits import wait_for

from ramet.cli.output import clean


@pytest.fixture
def work(ramet: CommandLine) -> CommandLine:
    """A project with a task and an effort that nobody holds."""
    ramet.ok("project", "add", ".")
    ramet.ok("task", "add", "login")
    ramet.begin_effort("login", "implement")
    ramet.ok("agent", "register", "blue")
    return ramet


def test_it_goes_on_telling_what_has_changed(work: CommandLine) -> None:
    with watching(work, "--json") as lines:
        assert json.loads(lines.readline())["items"] == []
        work.ok("agent", "assign", "blue", "e1")
        assert [row["agent"] for row in json.loads(lines.readline())["items"]] == ["blue"]
        work.ok("daemon", "stop")
        work.ok("agent", "release", "blue")
        assert json.loads(lines.readline())["items"] == [], "another daemon says so"


@pytest.mark.requirement("R462")
def test_it_goes_on_telling_which_hosts_claim_nothing(work: CommandLine) -> None:
    with watching(work) as lines:
        assert lines.readline().startswith("no agent is running")
        work.ok("rpc", "call", "hosts.park", '{"name": "north", "reason": "12 MB are free"}')
        assert lines.readline().startswith("no agent is running")
        assert lines.readline().startswith("north claims no efforts: 12 MB are free; ")


@contextmanager
def watching(work: CommandLine, *options: str) -> Iterator[IO[str]]:
    """What `ramet ps --watch` prints."""
    process = subprocess.Popen(
        [work.program, "ps", "--watch", *options], stdout=subprocess.PIPE, text=True, cwd=work.cwd, env=work.environ
    )
    assert process.stdout is not None
    try:
        yield process.stdout
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


def test_who_watches_does_not_start_the_daemon_again_that_somebody_has_stopped(work: CommandLine) -> None:
    with watching(work) as lines:
        assert lines.readline().startswith("no agent is running")
        work.ok("daemon", "stop")
        assert lines.readline() == "no daemon is running: `ramet daemon start` starts one\n"
        assert work("daemon", "status").returncode != 0
        work.ok("agent", "assign", "blue", "e1")
        assert lines.readline().startswith("AGENT")
        assert lines.readline().startswith("blue e1  starting")


@pytest.mark.parametrize(("columns", "hidden"), [(80, {"SKILL", "PHASE", "LABEL", "WHERE"}), (160, set())])
def test_however_narrow_the_terminal_is_it_shows_what_the_agents_do(
    work: CommandLine, columns: int, hidden: set[str]
) -> None:
    work.ok("skill", "add", "implementing", "--phase", "1: Test everything")
    work.begin_effort("login", "implementing")
    work.ok("agent", "register", "blue", "--label", "the blue one")
    work.ok("agent", "assign", "blue", "e2")
    work.ok("effort", "phase", "e2", "1: Test everything")
    window = {"context_window_size": 200_000, "used_percentage": 100}
    asked = {"hook_event_name": "UserPromptSubmit", "prompt": "Mend the long and winding road to the login page"}
    costs = {"cost": {"total_cost_usd": 12.5}, "context_window": window}
    for said in ({"hook_event_name": "SessionStart"}, asked, costs):
        payload = json.dumps({"session_id": "abc", "cwd": str(work.cwd), **said})
        call = {"vendor": "claude", "agent": "blue", "payload": payload}
        work.ok("rpc", "call", "hooks.event", json.dumps(call))
    heading, *rows = clean(at_terminal(work, "ps", columns=columns).text).splitlines()
    assert heading.split()[:4] == ["AGENT", "STATE", "AGE", "COST"]
    assert {"CTX", "SKILL", "PHASE", "LABEL", "WHERE", "NOW"} - {*heading.split()} == hidden
    assert len(rows) == 1
    assert rows[0].startswith("claude s1  running ")
    assert " $12.50  " in rows[0]
    assert "  Mend the long and winding" in rows[0]


@pytest.mark.requirement("R453")
def test_an_agent_that_a_person_started_stands_there_with_what_it_was_last_asked_for(work: CommandLine) -> None:
    window = "2f1c0c4e-0000-4000-8000-000000000001"
    for event in (
        {"hook_event_name": "SessionStart"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "Look around."},
        {"hook_event_name": "UserPromptSubmit", "prompt": "Mend it.\nNow."},
    ):
        payload = json.dumps({"session_id": window, "cwd": str(work.cwd), **event})
        work.ok("rpc", "call", "hooks.event", json.dumps({"vendor": "claude", "payload": payload}))
    heading, row = work.ok("ps").splitlines()
    assert heading.split() == ["AGENT", "STATE", "AGE", "COST", "SKILL", "SESSION", "EFFORT", "WHERE", "NOW"]
    assert row.split()[:3] == ["claude", "s1", "running"]
    assert row.endswith("  do     s1       e2      .      Mend it.")
    assert work.json("ps")["items"][0]["agent"] == f"claude:{window}"
    assert work.ok("tree").splitlines()[1].endswith("  Mend it.")
    work.ok("session", "say", "s1", "assistant", '{"command": "make test"}', "--tool-name", "Bash")
    for screen in ("ps", "tree"):
        assert work.ok(screen).splitlines()[1].endswith("  Bash: make test · Mend it.")
    assert "running: claude s1 (`ramet ps`)" in work.ok("status")


def test_the_project_of_an_agent_is_written_as_people_write_it(work: CommandLine) -> None:
    work.ok("agent", "assign", "blue", "e1")
    (work.home / "other").mkdir()
    elsewhere = CommandLine(work.home, work.home / "other")
    assert f"  {work.cwd}/login  " in elsewhere.ok("ps")
    at_home = elsewhere("ps", environ={"HOME": str(work.cwd.parent)}).stdout
    assert f"  ~/{work.cwd.name}/login  " in at_home
    assert "  login  " in work.ok("ps")


@pytest.mark.parametrize("command", [("ps", "--watch"), ("tree", "s1", "--watch")])
def test_q_leaves_a_screen_that_is_shown_again_and_again(work: CommandLine, command: tuple[str, ...]) -> None:
    work.ok("session", "start", "login", "e1", "--agent", "blue")
    seen = at_terminal(work, *command, typed="q")
    assert seen.status == 0
    assert "blue" in seen.text


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_the_terminal_gets_its_mode_back_however_the_watching_ends(work: CommandLine, ending: signal.Signals) -> None:
    work.ok("ps")
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    process = subprocess.Popen(
        [work.program, "ps", "--watch"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=work.cwd,
        env={**work.environ, "TERM": "xterm-256color"},
        start_new_session=True,
    )
    echo = termios.ECHO | termios.ICANON
    wait_for(lambda: not termios.tcgetattr(theirs)[3] & echo)
    process.send_signal(ending)
    assert process.wait(30) == 128 + ending
    assert termios.tcgetattr(theirs) == before
    os.close(ours)
    os.close(theirs)
