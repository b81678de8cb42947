"""`ramet db` and `ramet doctor`, on the real database."""

import json
import os
import pty
import select
import sqlite3

import pytest
from tests.cli.command_line import CommandLine


def test_a_backup_is_a_database_of_its_own(ramet: CommandLine) -> None:
    ramet.ok("project", "add", ".")
    here = ramet.json("db", "backup", "copy.db")
    assert here["path"] == str(ramet.cwd / "copy.db")
    with sqlite3.connect(here["path"]) as copy:
        assert copy.execute("SELECT path FROM projects").fetchall() == [(str(ramet.cwd),)]
    copy.close()
    assert ramet.json("db", "backup")["path"].startswith(str(ramet.home / "ramet" / "backups" / "ramet-2"))


def test_a_whole_database_checks(ramet: CommandLine) -> None:
    assert ramet.json("db", "check")["passed"] is True
    assert "the database is intact" in ramet.ok("db", "check")


def test_migrate_stops_the_daemon_and_starts_it_again(ramet: CommandLine) -> None:
    before = ramet.json("daemon", "start")["pid"]
    assert ramet.json("db", "migrate")["applied"] == []
    assert ramet.json("daemon", "status")["pid"] != before


def test_reset_without_a_terminal_needs_a_yes(ramet: CommandLine) -> None:
    ramet.ok("project", "add", ".")
    refused = ramet("db", "reset")
    assert (refused.returncode, "give --yes" in refused.stderr) == (2, True)
    assert len(ramet.json("project", "list")["items"]) == 1


def test_reset_leaves_an_empty_database_and_a_backup(ramet: CommandLine) -> None:
    ramet.ok("project", "add", ".")
    report = ramet.json("db", "reset", "--yes")
    assert ramet.json("project", "list")["items"] == []
    with sqlite3.connect(report["backup"]) as backup:
        assert backup.execute("SELECT count(*) FROM projects").fetchone() == (1,)
    backup.close()


@pytest.mark.parametrize(("answer", "left"), [("n", 1), ("y", 0)])
def test_on_a_terminal_reset_says_what_is_lost_and_asks(ramet: CommandLine, answer: str, left: int) -> None:
    ramet.ok("project", "add", ".")
    shown = converse([ramet.program, "db", "reset"], ramet, answer)
    assert "1 projects, 0 tasks" in shown
    assert len(ramet.json("project", "list")["items"]) == left


def converse(command: list[str], ramet: CommandLine, answer: str) -> str:
    """Run it on a terminal and answer its question; what it showed."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ramet.cwd)
        os.execve(command[0], command, {**ramet.environ, "TERM": "dumb"})
    shown = ""
    while select.select([terminal], [], [], 60)[0]:
        try:
            shown += os.read(terminal, 4096).decode()
        except OSError:
            break
        if shown.endswith("[y/N]: "):
            os.write(terminal, f"{answer}\n".encode())
    os.waitpid(pid, 0)
    os.close(terminal)
    return shown


@pytest.mark.requirement("R299")
def test_the_doctor_finds_a_sound_installation_sound(ramet: CommandLine) -> None:
    findings = {finding["name"]: finding for finding in ramet.json("doctor")["items"]}
    wanted = {"python", "packages", "sqlite", "git", "drivers", "home", "socket", "disk", "daemon", "database"}
    assert wanted | {"worktrees", "keepers"} <= set(findings)
    assert not [finding for finding in findings.values() if finding["result"] == "fail"]
    assert " 0 errors" in ramet.ok("doctor")


@pytest.mark.requirement("R299")
def test_the_doctor_says_what_fails_and_what_to_do(ramet: CommandLine) -> None:
    run = ramet.home / "ramet" / "run"
    run.mkdir(parents=True)
    run.chmod(0o777)
    done = ramet("doctor", "--json")
    findings = {finding["name"]: finding for finding in json.loads(done.stdout)["items"]}
    assert done.returncode == 1
    assert findings["socket"]["fix"] == f"chmod 700 {run}"
    assert findings["daemon"]["result"] == "fail"


@pytest.mark.requirement("R299")
def test_the_doctor_says_a_faulty_configuration_once(offline: CommandLine) -> None:
    done = offline("doctor", environ={"RAMET_DATABASE_TYPE": "mysql"})
    assert done.returncode == 1
    assert done.stdout.count("must be postgres or sqlite") == 1
