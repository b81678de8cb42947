"""One home, several projects: what agents run at their hooks follows the user's own settings, and no project's."""

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_line import CommandLine
from tests.project_settings import write_trusted

_PATIENCE_SECONDS = 30
START = {"hook_event_name": "SessionStart", "source": "startup", "session_id": "abc"}


@pytest.fixture
def site(ramet: CommandLine) -> CommandLine:
    """A project that sets nothing, where the hooks are installed. No project has to be registered."""
    ramet.configure({"hooks": {"record": "all"}})
    ramet.ok("hooks", "install", "--agent", "claude", "--yes")
    return ramet


@pytest.fixture
def other(site: CommandLine) -> Iterator[CommandLine]:
    """A project of the same user that has another database."""
    other = make_project(site, "database: {path: other.db}")
    other.ok("trust", "other.db", "--yes")
    yield other
    other("daemon", "stop")


def make_project(site: CommandLine, configuration: str) -> CommandLine:
    folder = site.home / "other"
    folder.mkdir()
    write_trusted(folder, site.home / "ramet", configuration)
    return CommandLine(site.home, folder)


def program(at: CommandLine) -> Path:
    return at.home / "ramet" / "hook"


def call_hook(at: CommandLine, payload: dict[str, Any]) -> int:
    said = json.dumps({"cwd": str(at.cwd), **payload})
    environ = {**at.environ, "RAMET_DATABASE_PATH": str(at.cwd / "third.db")}
    return subprocess.run([program(at), "claude"], input=said.encode(), env=environ, cwd=at.cwd, check=False).returncode


def sessions(at: CommandLine) -> list[str]:
    return [row["native_id"] for row in at.json("session", "list", "-A")["items"]]


def wait_until_it_runs(at: CommandLine) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while at("daemon", "status").returncode:
        assert time.monotonic() < deadline, "no daemon came"
        time.sleep(0.1)


def test_with_two_databases_hooks_of_both_projects_go_to_the_user_s_own(site: CommandLine, other: CommandLine) -> None:
    before = program(site).read_bytes()
    other.ok("daemon", "start")
    site.ok("daemon", "start")
    done = other("hooks", "install", "--agent", "claude", "--yes")
    assert done.returncode == 0
    assert program(site).read_bytes() == before
    for native_id, at in (("abc", site), ("def", other)):
        assert call_hook(at, {**START, "session_id": native_id}) == 0
    assert sorted(sessions(site)) == ["abc", "def"]
    assert sessions(other) == []


@pytest.mark.parametrize("command", [("hooks", "install", "--yes"), ("init",)])
def test_a_project_with_another_database_is_told_where_its_hooks_go(
    site: CommandLine, other: CommandLine, command: tuple[str, ...]
) -> None:
    done = other(*command, "--agent", "claude")
    own = site.home / "ramet/ramet.db"
    said = f"hooks write to your own database, {own}, but commands here use other.db (from ramet.yaml)"
    fix = "set the database in ~/.config/ramet/config.yaml, for all projects"
    assert done.stderr == f"{said} and do not show what hooks report\n  fix: {fix}\n"
    (unheeded,) = other.json(*command, "--agent", "claude")["unheeded"]
    assert unheeded["text"].startswith(said)
    assert "`ramet ps` then shows" not in done.stdout


def test_before_a_person_agrees_they_are_told_where_the_hooks_go(other: CommandLine) -> None:
    done = other("hooks", "install", "--agent", "claude")
    assert done.returncode == 2
    assert done.stderr.index("hooks write to your own database") < done.stderr.index("give --yes")
    assert not (other.cwd / ".claude").exists()


def test_status_is_the_same_in_all_projects(site: CommandLine, other: CommandLine) -> None:
    other("hooks", "install", "--agent", "claude", "--yes")
    for at in (site, other):
        assert at.json("hooks", "status")["hook_program"] == {"file": str(program(site)), "problem": None}
    assert "hooks write to your own database" in other.ok("hooks", "status")
    assert "hooks write to" not in site.ok("hooks", "status")


def test_no_project_s_file_makes_hooks_hold_agents_up(site: CommandLine) -> None:
    before = program(site).read_bytes()
    cloned = make_project(site, "hooks: {on_daemon_down: block}")
    cloned.ok("daemon", "start")
    cloned.ok("daemon", "stop")
    done = cloned("hooks", "install", "--agent", "claude", "--yes")
    assert "hooks ignore hooks.on_daemon_down: block (from ramet.yaml) and use your own: allow" in done.stderr
    assert program(site).read_bytes() == before
    assert call_hook(cloned, {"hook_event_name": "PreToolUse", "session_id": "abc", "tool_name": "Bash"}) == 0
    wait_until_it_runs(site)


def test_the_user_s_own_file_counts_and_a_starting_daemon_writes_it_down(site: CommandLine) -> None:
    site.configure({"hooks": {"on_daemon_down": "block"}})
    site.ok("daemon", "start")
    assert "on_daemon_down='block'" in program(site).read_text()
    assert site.json("hooks", "status")["unheeded"] == []


def test_the_daemon_that_a_hook_starts_is_the_user_s_own(site: CommandLine, other: CommandLine) -> None:
    assert call_hook(other, START) == 0
    wait_until_it_runs(site)
    assert other("daemon", "status").returncode != 0
    assert not (other.cwd / "third.db").exists()


def test_what_hooks_left_behind_is_not_taken_by_another_database_s_daemon(
    site: CommandLine, other: CommandLine
) -> None:
    transcript = site.home / "abc.jsonl"
    transcript.touch()
    gap = {"at": int(time.time()), "vendor": "claude", "why": "down", "transcript_path": str(transcript), **START}
    (site.home / "ramet/gaps.jsonl").write_text(json.dumps({"cwd": str(site.cwd), **gap}) + "\n")
    other.ok("daemon", "start")
    assert sessions(other) == []  # by then it has taken what it takes for its own
    site.ok("daemon", "start")
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while sessions(site) != ["abc"]:
        assert time.monotonic() < deadline, "nobody has taken it"
        time.sleep(0.1)
    assert sessions(other) == []


def test_the_status_line_tells_the_daemon_that_the_hooks_told(site: CommandLine, other: CommandLine) -> None:
    site.ok("daemon", "start")
    call_hook(other, START)
    window = {"context_window_size": 200_000, "used_percentage": 42}
    other.ok("status-line", stdin=json.dumps({"session_id": "abc", "cwd": str(other.cwd), "context_window": window}))
    assert [row["context_usage"] for row in site.json("ps")["items"]] == [0.42]
