"""What agents leave on the disk: worktrees, reports, and what the doctor says of them."""

import os
import pty
import select
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.cli.command_line import CommandLine


@pytest.fixture
def done(shop: CommandLine) -> CommandLine:
    """e1, a plan that was written, and e2, which was built, in one worktree."""
    shop.ok("add", "echo 'Count them.'", "--skill", "plan", "--driver", "shell")
    shop.ok("add", "echo items > cart.txt", "--based-on", "e1", "--driver", "shell")
    shop.ok("work", "--once")
    return shop


def worktree(ramet: CommandLine) -> Path:
    [row] = ramet.json("worktree", "list")["items"]
    return Path(row["path"])


def git(directory: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=directory, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_worktree_is_listed_with_what_exists_nowhere_else(done: CommandLine) -> None:
    (worktree(done) / "half.txt").write_text("half")
    [row] = done.json("worktree", "list")["items"]
    assert (row["state"], row["branch"], row["uncommitted_files"]) == ("idle", "ramet/e1", 1)
    heading, line = done.ok("worktree", "list").splitlines()
    assert heading.split() == ["EFFORT", "STATE", "UNCOMMITTED", "UNPUSHED", "SIZE", "BRANCH", "PATH"]
    assert line.endswith(row["path"])
    assert done.json("worktree", "list", "--project", ".")["items"] == [row]


@pytest.mark.requirement("R185", "R302")
def test_cleaning_keeps_what_nobody_has_committed(done: CommandLine) -> None:
    path = worktree(done)
    (path / "half.txt").write_text("half")
    planned = done.ok("worktree", "clean", "--dry-run")
    assert (planned.startswith(f"{path}: "), path.exists()) == (True, True)
    [row] = done.json("worktree", "clean", "--yes")["items"]
    assert (row["removed"], path.exists()) == (True, False)
    assert git(done.cwd, "show", f"{row['preserved_ref']}:half.txt") == "half"


@pytest.mark.requirement("R302")
def test_only_a_flag_that_names_the_path_loses_work(done: CommandLine) -> None:
    path = worktree(done)
    (path / "half.txt").write_text("half")
    [row] = done.json("worktree", "clean", "--yes", "--discard", str(path))["items"]
    assert (row["removed"], row["preserved_ref"], path.exists()) == (True, None, False)


def test_without_anybody_to_ask_nothing_is_removed(done: CommandLine) -> None:
    refused = done("worktree", "clean")
    assert (refused.returncode, "give --yes or --dry-run" in refused.stderr) == (2, True)
    assert worktree(done).exists()


@pytest.mark.parametrize(("answer", "is_removed"), [("n", False), ("y", True)])
def test_a_person_is_asked(done: CommandLine, answer: str, is_removed: bool) -> None:
    path = worktree(done)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [done.program, "worktree", "clean"], stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, env=done.environ
    )
    asked = b""
    while b"Remove them? [y/N]" not in asked:
        assert select.select([ours], [], [], 30)[0]
        asked += os.read(ours, 4096)
    os.write(ours, f"{answer}\n".encode())
    process.communicate(timeout=30)
    os.close(theirs)
    os.close(ours)
    assert (process.returncode, path.exists()) == (0, not is_removed)


@pytest.mark.requirement("R178", "R182")
def test_a_report_that_a_person_edited_is_taken_back(done: CommandLine) -> None:
    file = done.cwd / done.json("show", "e1")["report_file"]
    assert file.read_text().strip() == "Count them."
    assert "is already that of" in done.ok("report", "sync", "e1")
    file.write_text("Count them twice.\n")
    assert done.ok("report", "sync", "e1").startswith("the output of e1 now has 18 characters from ")
    assert done.ok("report", "show", "e1") == "Count them twice.\n"
    file.unlink()
    missing = done("report", "sync", "e1")
    assert (missing.returncode, "error: " in missing.stderr) == (3, True)


@pytest.mark.requirement("R299")
def test_the_doctor_sees_a_worktree_that_vanished(done: CommandLine) -> None:
    path = worktree(done)
    assert "ok    worktrees  1 worktree, " in done.ok("doctor")
    shutil.rmtree(path)
    findings = {finding["name"]: finding for finding in done.json("doctor")["items"]}
    assert findings["worktrees"]["detail"] == f"{path} has vanished"
    assert "`ramet worktree clean` removes it" in findings["worktrees"]["fix"]
    done.ok("worktree", "clean", "--yes")
    assert done.json("worktree", "list")["items"] == []


@pytest.mark.requirement("R299")
def test_the_doctor_asks_for_git_and_says_which_version_it_found(ramet: CommandLine) -> None:
    findings = {finding["name"]: finding for finding in ramet.json("doctor")["items"]}
    assert findings["git"]["detail"].startswith(f"version {git(ramet.cwd, '--version').split()[2]} (")
    old = ramet.home / "old"
    old.mkdir()
    (old / "git").write_text("#!/bin/sh\necho git version 2.17.1\n")
    (old / "git").chmod(0o755)
    done = ramet("doctor", environ={"PATH": f"{old}:{ramet.environ['PATH']}"})
    assert (done.returncode, "version 2.17.1 is too old" in done.stdout) == (1, True)
    none = ramet("doctor", environ={"PATH": str(ramet.home)})
    assert "install git: agents work in git worktrees" in none.stdout
