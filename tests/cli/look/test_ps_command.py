"""`ramet ps`: the fleet, and with --watch whenever something in it has changed."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import pytest
from tests.cli.command_line import CommandLine
from tests.cli.terminal import at_terminal

from ramet.cli.output import clean


@pytest.fixture
def work(ramet: CommandLine) -> CommandLine:
    """A project with a task and an effort that nobody holds."""
    ramet.ok("project", "add", ".")
    ramet.ok("task", "add", "login")
    ramet.ok("effort", "start", "login", "implement")
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
        assert "idle" in lines.readline()
        work.ok("daemon", "stop")
        assert lines.readline() == "no daemon runs; `ramet daemon start` starts one\n"
        assert work("daemon", "status").returncode != 0
        work.ok("agent", "assign", "blue", "e1")
        assert lines.readline().startswith("SESSION")
        assert "blue" in lines.readline()


@pytest.mark.parametrize(("columns", "hidden"), [(80, {"LABEL", "SKILL", "EFFORT"}), (120, set())])
def test_however_narrow_the_terminal_is_it_shows_what_the_agents_do(
    work: CommandLine, columns: int, hidden: set[str]
) -> None:
    work.ok("skill", "add", "implementing", "--phase", "1: Test everything")
    work.ok("effort", "start", "login", "implementing")
    work.ok("agent", "register", "blue", "--label", "the blue one")
    work.ok("agent", "assign", "blue", "e2")
    work.ok("effort", "phase", "e2", "1: Test everything")
    window = {"context_window_size": 200_000, "used_percentage": 100}
    for said in ({"hook_event_name": "SessionStart"}, {"cost": {"total_cost_usd": 12.5}, "context_window": window}):
        payload = json.dumps({"session_id": "abc", "cwd": str(work.cwd), **said})
        call = {"vendor": "claude", "agent": "blue", "payload": payload}
        work.ok("rpc", "call", "hooks.event", json.dumps(call))
    heading, *rows = clean(at_terminal(work, "ps", columns=columns).text).splitlines()
    assert {"LABEL", "SKILL", "EFFORT", "PHASE", "CTX", "COST", "TASK"} - {*heading.split()} == hidden
    assert len(rows) == 1
    assert rows[0].rstrip().endswith(" login")
    assert " 100% " in rows[0]


def test_an_agent_that_a_person_started_stands_there_with_what_it_was_asked_for(work: CommandLine) -> None:
    window = "2f1c0c4e-0000-4000-8000-000000000001"
    for event in (
        {"hook_event_name": "SessionStart"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "Mend it.\nNow."},
    ):
        payload = json.dumps({"session_id": window, "cwd": str(work.cwd), **event})
        work.ok("rpc", "call", "hooks.event", json.dumps({"vendor": "claude", "payload": payload}))
    heading, row = work.ok("ps").splitlines()
    assert heading.split() == ["SESSION", "AGENT", "EFFORT", "SKILL", "STATUS", "AGE", "TASK"]
    assert row.split()[:4] == ["s1", "claude", "e2", "do"]
    assert row.endswith("  Mend it.")
    assert work.json("ps")["items"][0]["agent"] == f"claude:{window}"
    assert work.ok("tree").splitlines()[1].endswith("  Mend it.")
    elsewhere = CommandLine(work.home, work.home)
    assert elsewhere.ok("ps").endswith(f"  {work.cwd.name}: Mend it.\n")
    (work.home / "other").mkdir()
    elsewhere = CommandLine(work.home, work.home / "other")
    assert elsewhere.ok("ps").endswith(f"  {work.cwd}: Mend it.\n")
    at_home = elsewhere("ps", environ={"HOME": str(work.cwd.parent)}).stdout
    assert at_home.endswith(f"  ~/{work.cwd.name}: Mend it.\n")
