"""The daemon's git sees the repository as the user's git does, but for the programs in its configuration."""

import ast
import os
import shutil
import stat
import time
from pathlib import Path

import pytest
from tests.workspace.git.hostile import configure
from tests.workspace.repositories import Shop

import ramet
from ramet.errors import GitFailed

_PROGRAM = Path("workspace/git/process.py")


OWN_SOURCES = Path("build.py")
"""Asks for the time of a commit of our own sources, whose code runs anyway."""


@pytest.mark.requirement("R337")
def test_git_is_started_in_one_place() -> None:
    top = Path(ramet.__file__).parent
    naming = {
        path.relative_to(top)
        for path in top.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.List | ast.Tuple) and node.elts and _is_git(node.elts[0])
    }
    assert naming == {_PROGRAM, OWN_SOURCES}


def _is_git(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == "git"


def test_what_is_data_in_a_configuration_counts(shop: Shop) -> None:
    configure(shop, {"core.autocrlf": "input", "user.name": "Ann", "user.email": 'ann "the \\ one" <x>'})
    worktree = shop.prepare("e1")
    Path(worktree.path, "b.txt").write_bytes(b"b\r\n")
    shop.finish(worktree)
    assert shop.run(shop.project, "cat-file", "-s", "ramet/e1:b.txt") == "2"
    assert shop.run(shop.project, "log", "-1", "--format=%an %ae", "ramet/e1") == 'Ann ann "the \\ one" x'
    configure(shop, {"user.name": "Bob"})
    assert shop.git.run(shop.project, "config", "user.name") == "Bob\n"


def test_files_that_the_user_ignores_everywhere_are_not_committed(shop: Shop) -> None:
    (shop.home / "ignored").write_text("*.log\n")
    shop.run(shop.project, "config", "--global", "core.excludesFile", "~/ignored")
    worktree = shop.prepare("e1")
    Path(worktree.path, "x.log").write_text("x")
    Path(worktree.path, "b.txt").write_text("b")
    assert shop.finish(worktree).changes.files == ["b.txt"]


def test_the_users_configuration_for_some_folders_counts_there(shop: Shop) -> None:
    (shop.home / "work").write_text("[user]\n\tname = Ann at work\n\temail = a@work\n")
    shop.run(shop.project, "config", "--global", f"includeIf.gitdir:{shop.root}/.path", str(shop.home / "work"))
    assert shop.git.run(shop.project, "config", "user.name") == "Ann at work\n"
    (shop.home / "work").write_text("[user]\n\tname = Ann at home\n\temail = a@work\n")
    assert shop.git.run(shop.project, "config", "user.name") == "Ann at home\n"


def test_a_repository_with_longer_hashes_works(shop: Shop) -> None:
    shop.project = shop.root / "long"
    shop.project.mkdir()
    shop.run(shop.project, "init", "-q", "--object-format=sha256", "-b", "main")
    (shop.project / "a.txt").write_text("a\n")
    shop.commit(shop.project, "start")
    worktree = shop.prepare("e1")
    Path(worktree.path, "b.txt").write_text("b\n")
    finished = shop.finish(worktree)
    assert (len(finished.head), finished.changes.files) == (64, ["b.txt"])


def test_a_sparse_checkout_has_sparse_worktrees(shop: Shop) -> None:
    for folder in ("in", "out"):
        (shop.project / folder).mkdir()
        (shop.project / folder / "x").write_text("x\n")
    shop.commit(shop.project, "folders")
    shop.run(shop.project, "sparse-checkout", "set", "in")
    worktree = shop.prepare("e1")
    there = sorted(path.name for path in Path(worktree.path).iterdir() if path.name != ".ramet")
    assert there == [".git", "a.txt", "in"]
    Path(worktree.path, "in", "x").write_text("y\n")
    assert shop.run(worktree.path, "status", "--porcelain") == "M in/x"
    assert shop.run(worktree.path, "sparse-checkout", "list") == "in"
    assert shop.finish(worktree).changes.files == ["in/x"]


def test_an_extension_that_we_do_not_know_is_refused(shop: Shop) -> None:
    configure(shop, {"extensions.newThing": "true", "core.repositoryFormatVersion": "1"})
    with pytest.raises(GitFailed, match=r"extensions\.newthing=true"):
        shop.git.run(shop.project, "status")


def test_worktrees_of_a_bare_repository_work(shop: Shop) -> None:
    bare = shop.root / "bare"
    shop.run(shop.root, "clone", "-q", "--bare", str(shop.project), str(bare))
    shop.project = shop.root / "checkout"
    shop.run(bare, "worktree", "add", "-q", "-b", "own", str(shop.project), "main")
    worktree = shop.prepare("e1")
    Path(worktree.path, "b.txt").write_text("b\n")
    assert shop.finish(worktree).changes.files == ["b.txt"]


def test_views_are_for_the_user_alone_and_go_with_their_repositories(shop: Shop) -> None:
    views = shop.root / "views"
    shop.git.run(shop.project, "status")
    assert stat.S_IMODE(views.stat().st_mode) == 0o700
    [view] = views.iterdir()
    shop.project.rename(shop.root / "moved")
    shop.git.run(shop.root / "moved", "status")
    [moved] = views.iterdir()
    assert moved != view
    (moved / "config").unlink()
    shop.git.run(shop.root / "moved", "status")
    assert (moved / "config").exists()


def test_another_worktree_reads_the_configuration_of_its_repository_only_once(shop: Shop) -> None:
    """A daemon that starts again has fifty worktrees to look at, before it can do anything else."""
    paths = [shop.prepare(f"e{number}").path for number in range(3)]
    programs, calls = shop.root / "programs", shop.root / "calls"
    programs.mkdir()
    (programs / "git").write_text(f'#!/bin/sh\necho "$*" >> {calls}\nexec {shutil.which("git")} "$@"\n')
    (programs / "git").chmod(0o755)
    shop.environ["PATH"] = f"{programs}:{shop.environ['PATH']}"
    git = shop.allow()
    for path in paths:
        git.run(path, "status")
    said = calls.read_text().splitlines()
    assert len([line for line in said if " config " in line]) == 2
    assert len([line for line in said if line.endswith(" status")]) == len(paths)


def test_a_view_that_a_killed_process_left_unfinished_goes_with_time(shop: Shop) -> None:
    views = shop.root / "views"
    for name, age_seconds in (("unfinished-old", 7200), ("unfinished-new", 0)):
        (views / name).mkdir(parents=True)
        then = time.time() - age_seconds
        os.utime(views / name, (then, then))
    shop.git.run(shop.project, "status")
    assert sorted(path.name for path in views.iterdir() if path.name.startswith("un")) == ["unfinished-new"]
