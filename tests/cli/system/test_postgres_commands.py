"""The same commands on PostgreSQL."""

import sqlite3
import subprocess
from pathlib import Path

import pytest
from tests.cli.command_line import CommandLine


@pytest.fixture
def shared(ramet: CommandLine, postgres_url: str) -> CommandLine:
    """A user whose own file names a server."""
    ramet.configure({"database": {"type": "postgres", "url": postgres_url}})
    return ramet


@pytest.mark.requirement("R175")
def test_a_project_may_keep_everything_on_a_server(shared: CommandLine) -> None:
    shared.ok("project", "add", ".")
    shared.ok("task", "add", "login")
    shared.begin_effort("login", "implement")
    shared.ok("session", "start", "login", "e1", "--native", "claude:abc")
    assert shared.json("effort", "show", "e1")["skill"] == "implement"
    assert shared.json("session", "show", "claude:abc")["id"] == 1
    assert shared.json("status")["counts"]["open_sessions"] == 1
    assert shared.json("daemon", "status")["store"].startswith("postgres")
    assert len(shared.json("events")["items"]) == 4


def test_a_server_is_backed_up_checked_and_reset(shared: CommandLine) -> None:
    shared.ok("project", "add", ".")
    assert shared.json("db", "check")["passed"] is True
    assert shared.json("db", "migrate")["applied"] == []
    backup = sqlite3.connect(shared.json("db", "reset", "--yes")["backup"])
    assert backup.execute("SELECT count(*) FROM projects").fetchone() == (1,)
    backup.close()
    assert shared.json("project", "list")["items"] == []


@pytest.mark.requirement("R310")
def test_two_machines_know_by_its_remote_that_a_project_is_the_same(shared: CommandLine, home: Path) -> None:
    clones = {"north": shared.cwd, "south": home / "elsewhere" / "clone"}
    remotes = {"north": "https://ann:hunter2@forge.example/shop.git", "south": "git@forge.example:shop"}
    clones["south"].mkdir(parents=True)
    for host, clone in clones.items():
        shared.cwd = clone
        shared.environ["RAMET_WORK_HOST"] = host
        subprocess.run(["git", "init", "-q", str(clone)], check=True)
        subprocess.run(["git", "-C", str(clone), "remote", "add", "origin", remotes[host]], check=True)
        assert shared.ok("project", "add", ".") == f"project 1: {clone}\n"
        assert shared.json("add", f"mend it on {host}")["task_id"].startswith(f"{clone}/")
    (row,) = shared.json("project", "list")["items"]
    assert row["hosts"] == {host: str(clone) for host, clone in clones.items()}
    assert row["remote"] == "forge.example/shop"
    assert "north south" in shared.ok("project", "list")


@pytest.mark.requirement("R176")
def test_a_server_that_does_not_answer_is_said_without_the_password(ramet: CommandLine) -> None:
    environ = {"RAMET_DATABASE_TYPE": "postgres", "RAMET_DATABASE_URL": "postgres://me:hunter2@127.0.0.1:9/r"}
    done = ramet("ps", environ=environ)
    assert (done.returncode, "hunter2" in done.stderr) == (5, False)
    assert "error: " in done.stderr
