"""`ramet land`, from the queue to the branch, with a real daemon that is killed on the way."""

import json
import subprocess
from pathlib import Path

import psutil
import pytest
from tests.cli.command_line import CommandLine
from tests.cli.terminal import at_terminal

PATIENCE_SECONDS = 60


def git(shop: CommandLine, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=shop.cwd, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def done(shop: CommandLine) -> CommandLine:
    """e1 and e2, which have changed different files, and e3, which conflicts with e1."""
    for command in ("echo 1 > one.txt", "echo 2 > two.txt", "echo 3 > one.txt"):
        shop.ok("add", command, "--skill", "implement", "--driver", "shell")
    shop.ok("work", "--once")
    return shop


@pytest.mark.requirement("R401", "R404", "R406")
def test_branches_land_are_listed_and_undone(done: CommandLine) -> None:
    start = git(done, "rev-parse", "HEAD")
    plan = done.ok("land", "e1", "e2", "e3", "--check", "test -e one.txt", "--dry-run")
    assert "conflicts in one.txt" in plan
    assert max(map(len, plan.splitlines())) <= 80
    assert git(done, "rev-parse", "HEAD") == start
    assert done("land", "e1").returncode == 2, "without a terminal nobody can be asked"
    done.ok("add", "true", "--skill", "implement", "--driver", "shell")
    landed = done("land", "e1", "e2", "e3", "e4", "--check", "test -e one.txt", "--yes")
    assert "note: does not land: e4 is queued" in landed.stderr
    assert (landed.returncode, landed.stdout.splitlines()[2]) == (1, "l3 e3 conflicted: conflicts in one.txt")
    assert (done.cwd / "two.txt").read_text() == "2\n"
    table = done.ok("landings", "list").splitlines()
    assert [line.split()[1] for line in table[1:]] == ["conflicted", "landed", "landed"]
    assert done.json("landings", "show", "l1")["state"] == "landed"
    assert "queued" in done.ok("landings", "retry", "l3")
    assert done.ok("undo", "l2").startswith("l4 undo of l2 landed: main is at ")
    assert not (done.cwd / "two.txt").exists()
    assert done("undo", "l2").returncode == 4
    assert done("landings", "show", "l9").returncode == 3


@pytest.mark.requirement("R401")
def test_a_person_at_a_terminal_is_asked(done: CommandLine) -> None:
    start = git(done, "rev-parse", "HEAD")
    assert "nothing was landed" in at_terminal(done, "land", "e1", typed="n\n").text
    assert git(done, "rev-parse", "HEAD") == start
    assert at_terminal(done, "land", "e1", typed="y\n").status == 0
    assert (done.cwd / "one.txt").exists()


@pytest.mark.requirement("R402")
@pytest.mark.parametrize("point", ["landing_checked", "landing_tested", "landing_moved"])
def test_after_the_daemon_is_killed_the_next_one_lands_it_once(done: CommandLine, point: str) -> None:
    start = git(done, "rev-parse", "HEAD")
    done.ok("daemon", "stop")
    assert done("daemon", "start", environ={"RAMET_FAULT": f"{point}:1"}).returncode == 0
    daemon = psutil.Process(done.json("daemon", "status")["pid"])
    done("land", "e1", "--check", "test -e one.txt", "--yes", "--detach")
    daemon.wait(PATIENCE_SECONDS)
    assert len(git(done, "rev-list", f"{start}..HEAD").split()) == (2 if point == "landing_moved" else 0)
    landed = done("land", "e1", "--check", "test -e one.txt", "--yes", "--json")
    [row] = json.loads(landed.stdout)["items"]
    assert (landed.returncode, row["state"], row["already"] or row["attempts"] > 1) == (0, "landed", True)
    assert git(done, "rev-list", "--first-parent", f"{start}..HEAD") == row["tested"]
    assert Path(done.cwd, "one.txt").read_text() == "1\n"
