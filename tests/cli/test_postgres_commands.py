"""The same commands on PostgreSQL."""

import sqlite3

import pytest
from tests.cli.command_line import CommandLine


@pytest.fixture
def shared(ramet: CommandLine, postgres_url: str) -> CommandLine:
    """A project whose ramet.yaml names a server."""
    (ramet.cwd / "ramet.yaml").write_text(f"database:\n  type: postgres\n  url: {postgres_url!r}\n")
    return ramet


@pytest.mark.requirement("R175")
def test_a_project_may_keep_everything_on_a_server(shared: CommandLine) -> None:
    shared.ok("project", "add", ".")
    shared.ok("task", "add", "login")
    shared.ok("effort", "start", "login", "implement")
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


@pytest.mark.requirement("R176")
def test_a_server_that_does_not_answer_is_said_without_the_password(ramet: CommandLine) -> None:
    environ = {"RAMET_DATABASE_TYPE": "postgres", "RAMET_DATABASE_URL": "postgres://me:hunter2@127.0.0.1:9/r"}
    done = ramet("ps", environ=environ)
    assert (done.returncode, "hunter2" in done.stderr) == (5, False)
    assert "error: " in done.stderr
