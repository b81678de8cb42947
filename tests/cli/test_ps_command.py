"""`ramet ps`: the fleet, and with --watch whenever something in it has changed."""

import json
import subprocess

import pytest
from tests.cli.command_line import CommandLine


@pytest.fixture
def work(ramet: CommandLine) -> CommandLine:
    """A project with a task and an effort that nobody holds."""
    ramet.ok("project", "add", ".")
    ramet.ok("task", "add", "login")
    ramet.ok("effort", "start", "login", "implement")
    ramet.ok("agent", "register", "blue")
    return ramet


def test_it_goes_on_telling_what_has_changed(work: CommandLine) -> None:
    watching = subprocess.Popen(
        [work.program, "ps", "--watch", "--json"], stdout=subprocess.PIPE, text=True, cwd=work.cwd, env=work.environ
    )
    assert watching.stdout is not None
    try:
        assert json.loads(watching.stdout.readline())["items"] == []
        work.ok("agent", "assign", "blue", "e1")
        assert [row["agent"] for row in json.loads(watching.stdout.readline())["items"]] == ["blue"]
        work.ok("daemon", "stop")
        work.ok("agent", "release", "blue")
        assert json.loads(watching.stdout.readline())["items"] == [], "another daemon says so"
    finally:
        watching.terminate()
        watching.wait(10)
        watching.stdout.close()


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
