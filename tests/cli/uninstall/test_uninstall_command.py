"""`ramet uninstall` leaves nothing behind that it was not told to keep, and loses no work."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.cli import family
from tests.cli.command_line import CommandLine
from tests.cli.terminal import at_terminal
from tests.keeper.scripted_daemon import wait_for

HOOKED = '{\n  "model": "opus"\n}\n'


def git(ramet: CommandLine, *words: str) -> str:
    identity = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.com"]
    environ = {**ramet.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
    done = subprocess.run(
        ["git", *identity, *words], cwd=ramet.cwd, env=environ, check=True, capture_output=True, text=True
    )
    return done.stdout


@pytest.fixture
def installed(shop: CommandLine) -> CommandLine:
    """Hooks and tools in a project that is registered, in the user's own settings, and in a folder that is not."""
    (shop.cwd / ".claude").mkdir()
    (shop.cwd / ".claude" / "settings.json").write_text(HOOKED)
    shop.ok("init", "--agent", "claude", "--agent", "codex")
    shop.ok("hooks", "install", "--agent", "claude", "--scope", "user", "--yes")
    shop.configure("# mine\n")
    elsewhere = shop.home / "elsewhere"
    elsewhere.mkdir()
    CommandLine.ok(_in(shop, elsewhere), "mcp", "install", "claude")
    return shop


def _in(ramet: CommandLine, folder: Path) -> CommandLine:
    other = CommandLine(ramet.home, folder)
    other.environ = ramet.environ
    return other


def find_entries(ramet: CommandLine) -> list[str]:
    """The files that mention Ramet, outside of its own folders."""
    own = (Path(ramet.environ["RAMET_HOME"]), ramet.cwd / ".git", ramet.cwd / ".ramet")
    files = [file for file in ramet.home.rglob("*") if file.is_file() and not any(file.is_relative_to(o) for o in own)]
    return sorted(str(file.relative_to(ramet.home)) for file in files if "ramet" in file.read_text().lower())


@pytest.mark.requirement("R379")
def test_hooks_and_tools_are_removed_from_every_place_and_the_daemon_stops(installed: CommandLine) -> None:
    assert len(find_entries(installed)) >= 5
    told = installed.ok("uninstall", "--yes")
    assert find_entries(installed) == []
    assert (installed.cwd / ".claude" / "settings.json").read_text() == HOOKED
    assert "stopped: the daemon" in told
    assert not Path(installed.environ["RAMET_HOME"]).exists()
    assert not Path(installed.environ["HOME"], ".config/ramet").exists()
    assert not (installed.cwd / ".ramet").exists()
    assert "pip uninstall ramet" in told


@pytest.mark.requirement("R379")
def test_what_remains_is_asked_for_one_by_one(installed: CommandLine) -> None:
    seen = at_terminal(installed, "uninstall", typed="y\n" * 2 + "n\n" * 20)
    assert seen.status == 0
    asked = [line for line in seen.text.splitlines() if "Delete " in line and "?" in line]
    for part in ("Delete .ramet (", "(the database", "(logs", "(your settings)", "(where hooks were installed"):
        assert len([line for line in asked if part in line]) == 1
    assert find_entries(installed) == []
    assert not (installed.cwd / ".ramet").exists(), "the first question was answered with yes"
    assert Path(installed.environ["RAMET_HOME"], "ramet.db").exists()


def test_data_can_be_kept_and_a_dry_run_changes_nothing(installed: CommandLine) -> None:
    before = find_entries(installed)
    planned = installed.json("uninstall", "--dry-run")["items"]
    assert {item["result"] for item in planned} == {"would remove", "would stop", "would ask about"}
    assert find_entries(installed) == before
    assert installed("daemon", "status").returncode == 0
    installed.ok("uninstall", "--yes", "--keep-data")
    assert find_entries(installed) == []
    assert installed("daemon", "status").returncode != 0
    assert (installed.cwd / ".ramet").is_dir()
    assert Path(installed.environ["RAMET_HOME"], "ramet.db").exists()


@pytest.mark.requirement("R379")
def test_work_that_exists_nowhere_else_is_kept_and_named(shop: CommandLine) -> None:
    shop.ok("project", "add", ".")
    git(shop, "branch", "ramet/merged")
    git(shop, "switch", "-q", "-c", "ramet/alone")
    git(shop, "commit", "-q", "--allow-empty", "-m", "only here")
    git(shop, "update-ref", "refs/ramet/kept/e1", "HEAD")
    git(shop, "switch", "-q", "main")
    told = shop.ok("uninstall", "--yes")
    left = git(shop, "for-each-ref", "--format=%(refname)").split()
    assert left == ["refs/heads/main", "refs/heads/ramet/alone", "refs/ramet/kept/e1"]
    assert "kept: 2 git refs in . with work that is on no other branch: refs/heads/ramet/alone" in told


@pytest.mark.requirement("R379")
def test_running_agents_are_named_and_stop_it_unless_it_is_forced(shop: CommandLine) -> None:
    ramet = family.begin(shop)
    ramet.ok("add", family.goal("Wait", {"write": "started", "text": "yes"}, {"sleep": 300}), "--driver", "fake")
    work = subprocess.Popen([ramet.program, "work", "e2"], env=ramet.environ, cwd=ramet.cwd, stdout=subprocess.DEVNULL)
    try:
        wait_for(lambda: [row["id"] for row in ramet.json("queue")["items"] if row["lease_owner"]] == [2])
        refused = ramet("uninstall", "--yes")
        assert (refused.returncode, "1 agent running: e2" in refused.stderr) == (4, True)
        assert "--force" in refused.stderr
        done = json.loads(ramet("uninstall", "--yes", "--force", "--json").stdout)
        assert {"result": "stopped", "what": "the daemon"} in done["items"]
    finally:
        work.kill()
        work.wait()
    assert not Path(ramet.environ["RAMET_HOME"], "ramet.db").exists()


def test_it_asks_for_a_terminal_or_an_answer_and_no_agent_may(offline: CommandLine) -> None:
    done = offline("uninstall")
    assert (done.returncode, "give --yes or --dry-run" in done.stderr) == (2, True)
    done = offline("uninstall", "--yes", environ={"RAMET_SESSION": "1"})
    assert (done.returncode, "an agent cannot uninstall" in done.stderr) == (2, True)


def test_where_nothing_was_installed_there_is_nothing_to_do(offline: CommandLine) -> None:
    told = offline.ok("uninstall", "--yes")
    assert len(told.splitlines()) == 1
    assert not (offline.home / "ramet").exists()
