"""`ramet db backups`, `restore` and `accept`, on the real database: also with hostile files, and while agents run."""

import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_line import CommandLine
from tests.cli.terminal import at_terminal
from tests.cli.waits import gate, wait_for


@pytest.fixture
def kept(ramet: CommandLine) -> str:
    """A backup with one project, of a database that has two."""
    ramet.ok("project", "add", ".")
    path: str = ramet.json("db", "backup")["path"]
    (ramet.cwd / "later").mkdir()
    ramet.ok("project", "add", "later")
    return path


def count_projects(ramet: CommandLine) -> int:
    return len(ramet.json("project", "list")["items"])


@pytest.mark.requirement("R378")
def test_a_restore_says_what_is_lost_and_keeps_what_it_replaces(ramet: CommandLine, kept: str) -> None:
    (row,) = ramet.json("db", "backups")["items"]
    assert (row["path"], row["label"], row["state"], row["schema_version"] > 30) == (kept, None, "usable", True)
    refused = ramet("db", "restore")
    assert (refused.returncode, "give --yes" in refused.stderr) == (2, True)
    shown = at_terminal(ramet, "db", "restore", typed="n\n", columns=300)
    assert kept in shown.text
    assert "0 messages, 0 efforts, 0 sessions" in shown.text
    assert shown.status == 1
    assert count_projects(ramet) == 2
    done = ramet.json("db", "restore", "latest", "--yes")
    assert done.keys() == {"backup", "database", "kept", "losses", "stopped", "dropped"}
    assert (done["backup"], done["losses"]["events"]) == (kept, 1)
    assert count_projects(ramet) == 1
    with sqlite3.connect(done["kept"]) as old:
        assert old.execute("SELECT count(*) FROM projects").fetchone() == (2,)
    old.close()
    assert [row["state"] for row in ramet.json("db", "backups")["items"]] == ["replaced", "usable"]
    ramet.ok("project", "add", "later")
    assert [row["id"] for row in ramet.json("project", "list")["items"]] == [1, 3]  # no number is given twice
    newest = ramet.json("events", "--limit", "2")["items"]
    assert [row["kind"] for row in newest] == ["database.restored", "project.added"]
    assert ramet.json("db", "check")["passed"] is True


@pytest.mark.requirement("R378")
def test_work_that_has_run_since_a_backup_runs_no_second_time(ramet: CommandLine) -> None:
    ramet.ok("project", "add", ".")
    command, _ = gate(ramet)
    ramet.ok("add", f"echo once >> {ramet.home / 'ran'}; {command}", "--driver", "shell")
    backup = ramet.json("db", "backup")["path"]
    ramet.ok("add", "true", "--driver", "shell")
    work = subprocess.Popen([ramet.program, "work"], cwd=ramet.cwd, env=ramet.environ, stderr=subprocess.PIPE)
    try:
        wait_for((ramet.home / "ran").exists)
        done = ramet.json("db", "restore", backup, "--yes")
        assert (done["stopped"], done["dropped"]) == ([1], [1])
        assert done["losses"]["efforts"] == 1
    finally:
        work.kill()
        work.communicate()
    assert ramet.json("show", "e1")["outcome"] == "dropped"
    ramet.ok("work", "--once")
    assert (ramet.home / "ran").read_text() == "once\n"
    ramet.ok("add", "true", "--driver", "shell")
    assert ramet.json("show", "e3")["id"] == 3
    assert (Path(done["kept"]).with_suffix("").parent / f"{Path(done['kept']).stem}-keepers").is_dir()
    assert ramet.json("db", "check")["passed"] is True


def make_fifo(path: Path, _: str) -> None:
    os.mkfifo(path)


def make_foreign(path: Path, _: str) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE cookies (name)")
    other.close()


def make_newer(path: Path, kept: str) -> None:
    shutil.copy(kept, path)
    with sqlite3.connect(path) as newer:
        newer.execute("INSERT INTO schema_migrations (number, name, applied_at) VALUES (9999, 'later', '')")
    newer.close()


def make_torn(path: Path, kept: str) -> None:
    path.write_bytes(Path(kept).read_bytes()[:-200_000])


def make_stranger(path: Path, kept: str) -> None:
    """A database that a repository brought with it."""
    shutil.copy(kept, path)
    subprocess.run(["git", "init", "--quiet"], cwd=path.parent, check=True)


HOSTILE: dict[str, tuple[Callable[[Path, str], Any], str]] = {
    "a link": (lambda path, kept: path.symlink_to(kept), "is a link"),
    "a pipe": (make_fifo, "is not a file"),
    "a directory": (lambda path, _: path.mkdir(), "is not a file"),
    "nothing": (lambda *_: None, "cannot be read"),
    "another program's": (make_foreign, "is not a Ramet database"),
    "a newer version's": (make_newer, "has schema version 9999"),
    "half a file": (make_torn, "damaged"),
    "a text": (lambda path, _: path.write_text("hello" * 1000), "not a database"),
    "a repository's": (make_stranger, "you have not trusted it"),
}


@pytest.mark.requirement("R378")
def test_a_file_that_may_not_become_the_database_is_refused(ramet: CommandLine, kept: str) -> None:
    for number, (kind, (make, named)) in enumerate(HOSTILE.items()):
        folder = ramet.home / f"elsewhere{number}"
        folder.mkdir()
        make(folder / "b.db", kept)
        refused = ramet("db", "restore", str(folder / "b.db"), "--yes", "--json")
        error = json.loads(refused.stderr)["error"]
        assert refused.returncode == 5, kind
        assert named in error["message"], kind
        assert error["fix"], kind
    assert count_projects(ramet) == 2
    assert not list((ramet.home / "ramet").glob("*.restoring*"))


@pytest.mark.requirement("R464")
def test_a_missing_file_is_named_and_can_be_restored_or_accepted(ramet: CommandLine, kept: str) -> None:
    database = ramet.home / "ramet" / "ramet.db"
    for way, left in ((("restore", "latest"), 1), (("accept",), 0)):
        ramet.ok("daemon", "stop")
        database.unlink()
        refused = ramet("ps")
        assert (refused.returncode, "is missing: it had" in refused.stderr) == (5, True)
        assert "`ramet db restore latest`" in refused.stderr
        ramet.ok("db", *way, "--yes")
        assert count_projects(ramet) == left
    assert Path(kept).exists()
