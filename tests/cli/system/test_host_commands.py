"""A host on which no agent can start, as people see it: it parks, says so everywhere, and is resumed."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_line import CommandLine
from tests.crash.failing_git import FailingGit
from tests.crash.waits import wait_for

from ramet.errors import EXIT_WORK

pytestmark = pytest.mark.requirement("R462")


@pytest.fixture
def git(shop: CommandLine) -> FailingGit:
    """A git that says that the disk is full, for the daemon and for everything that it starts."""
    git = FailingGit(shop.home / "bin")
    git.fail("full")
    shop.environ["PATH"] = f"{shop.home / 'bin'}:{shop.environ['PATH']}"
    work = {"host": "north", "backoff_seconds": 0, "host_breaker_seconds": 3600}
    shop.configure({"work": work, "drivers": {"default": "shell"}})
    return git


def findings(shop: CommandLine) -> list[Any]:
    return [row for row in shop.json("doctor")["items"] if row["name"] == "hosts"]


def test_the_only_host_parks_keeps_the_queue_and_is_resumed_by_hand(shop: CommandLine, git: FailingGit) -> None:
    for number in range(4):
        shop.ok("add", f"echo {number}", "--skill", "do")
    done = shop("work", "--once")
    assert (done.returncode, done.stderr) == (EXIT_WORK, "")
    says = "north claims no efforts: the worktree "
    assert f"\n{says}" in done.stdout
    assert "No space left on device" in done.stdout
    assert "this host claims no efforts, so the queued ones wait: `ramet queue`\n" in done.stdout
    assert shop("work", "--once").returncode == EXIT_WORK, "it neither hangs nor tries again"
    rows = shop.json("queue")["items"]
    assert [(row["lifecycle"], row["attempts"], row["host_failures"]) for row in rows] == [("queued", 0, 0)] * 4
    for command in ("ps", "queue", "next"):
        assert says in shop.ok(command)
    assert [(row["name"], row["state"]) for row in shop.json("ps")["parked_hosts"]] == [("north", "parked")]
    (finding,) = findings(shop)
    assert (finding["result"], finding["detail"].startswith(says)) == ("warn", True)
    assert finding["fix"].endswith("now: `ramet resume --host north`")
    assert [row["kind"] for row in shop.json("notices")["items"]] == ["parked"]
    git.work()
    assert shop.ok("resume", "--host", "north").startswith("north claims efforts again")
    assert shop.ok("work", "--once").endswith("4 efforts: 4 success\n")
    assert [finding["result"] for finding in findings(shop)] == ["ok"]
    assert shop.ok("resume", "--host", "north") == "north is not parked\n"


def park_north(shop: CommandLine) -> None:
    for number in range(3):
        shop.ok("add", f"echo {number}", "--skill", "do")
    assert shop("work", "--once").returncode == EXIT_WORK


def test_a_parked_host_with_an_empty_queue_keeps_nothing_waiting(shop: CommandLine, git: FailingGit) -> None:
    park_north(shop)
    shop.ok("drop", "e1", "e2", "e3")
    done = shop("work", "--once")
    assert (done.returncode, "the queued ones wait" in done.stdout) == (0, False)


def test_a_run_on_a_parked_host_ends_if_nothing_of_it_is_left(shop: CommandLine, git: FailingGit) -> None:
    park_north(shop)
    with ThreadPoolExecutor() as threads:
        running = threads.submit(shop, "run", "-", stdin="- [ ] echo 4\n")
        assert wait_for(lambda: shop("show", "e4").returncode == 0)
        shop.ok("drop", "e4")
        assert "1 skipped" in running.result().stdout


def test_a_deleted_project_ends_its_efforts_and_does_not_park_the_host(shop: CommandLine, git: FailingGit) -> None:
    git.work()
    work = {"host": "north", "backoff_seconds": 0, "host_retries": 3}
    shop.configure({"work": work, "drivers": {"default": "shell"}})
    shop.ok("add", "echo 1", "--skill", "do")
    shop.cwd = shop.cwd.rename(shop.cwd.with_name("moved"))
    assert shop("work", "--once", "-A").returncode == 1
    row = shop.json("show", "e1")
    assert (row["outcome"], row["host_failures"]) == ("error", 4)
    assert row["reason"].startswith("the project's directory ")
    assert [finding["result"] for finding in findings(shop)] == ["ok"]


def test_a_disk_with_too_little_room_parks_the_host_before_it_claims(shop: CommandLine) -> None:
    shop.configure({"work": {"host": "north", "min_free_mb": 1_000_000_000}})
    shop.ok("add", "echo 1", "--skill", "do", "--driver", "shell")
    done = shop("work", "--once")
    assert done.returncode == EXIT_WORK
    assert "MB are free on the disk of " in done.stdout
    assert "less than work.min_free_mb (1000000000); it continues when there is room" in done.stdout
    shop.configure({"work": {"host": "north", "min_free_mb": 0}})
    shop.ok("daemon", "stop")
    shop.ok("work", "--once")
    assert shop.json("show", "e1")["outcome"] == "success"


def test_resume_needs_efforts_or_a_host(offline: CommandLine) -> None:
    for arguments in (["resume"], ["resume", "e1", "--host", "north"]):
        done = offline(*arguments)
        assert (done.returncode, "name efforts to resume, or a host" in done.stderr) == (2, True)


def test_what_hosts_have_lost_is_retried_at_once(shop: CommandLine, git: FailingGit) -> None:
    shop.configure(
        {
            "work": {"host": "north", "host_retries": 0, "backoff_seconds": 0},
            "worktree": {"setup": "echo no network; exit 3"},
            "drivers": {"default": "shell"},
        }
    )
    git.work()
    for prompt in ("echo 1", "echo 2"):
        shop.ok("add", prompt, "--skill", "do")
    shop("work", "--once")
    shop.configure({"work": {"retries": 0}, "drivers": {"default": "shell"}})
    shop.ok("add", "exit 3", "--skill", "do")
    shop("work", "--once")
    assert [row["outcome"] for row in shop.json("queue", "--all")["items"]] == ["error"] * 3
    listed = shop.ok("retry", "--failed-since", "1h", "--dry-run").splitlines()
    assert [line.partition(":")[0] for line in listed] == ["e1 (do)", "e2 (do)"]
    assert "no network" in listed[0]
    refused = shop("retry", "--failed-since", "1h")
    assert (refused.returncode, "give --yes or --dry-run" in refused.stderr) == (2, True)
    assert shop("retry", "--failed-since", "soon", "--yes").returncode == 2
    assert shop("retry", "e1", "--failed-since", "1h", "--yes").returncode == 2
    queued = shop.json("retry", "--failed-since", "1h", "--yes")["items"]
    assert [row["retry_of"] for row in queued] == [1, 2]
    again = shop.ok("retry", "--failed-since", "1h", "--dry-run")
    assert again == "no effort was ended by a failure of a host since then\n"
    assert shop.json("retry", "--failed-since", "1h", "--dry-run")["items"] == []


@pytest.mark.requirement("R471")
def test_a_remote_that_is_a_path_is_said_where_other_hosts_share_the_database(
    ramet: CommandLine, postgres_url: str, home: Path
) -> None:
    ramet.configure({"database": {"type": "postgres", "url": postgres_url}})
    subprocess.run(["git", "init", "-q", str(ramet.cwd)], check=True)
    assert ramet("project", "add", ".").stderr == ""
    subprocess.run(["git", "-C", str(ramet.cwd), "remote", "add", "origin", str(home / "origin.git")], check=True)
    for arguments in (["project", "add", "."], ["init"]):
        said = ramet(*arguments).stderr
        assert f"the git remote of {ramet.cwd} is a path on this host, so other hosts cannot recognise" in said
        assert "remote set-url origin URL`" in said


@pytest.mark.requirement("R471")
def test_a_branch_of_another_host_is_shown_with_that_host(shop: CommandLine, postgres_url: str) -> None:
    shop.configure({"database": {"type": "postgres", "url": postgres_url}})
    shop.environ["RAMET_WORK_HOST"] = "north"
    shop.ok("add", "echo 1 > cart.txt", "--skill", "do", "--driver", "shell")
    shop.ok("work", "--once")
    shown = shop.ok("show", "e1")
    assert "branch" in shown
    assert "north" not in shown
    shop.environ["RAMET_WORK_HOST"] = "south"
    lines = [line for line in shop.ok("show", "e1").splitlines() if line.endswith(" on north")]
    assert [line.split()[0] for line in lines] == ["worktree", "branch"]
