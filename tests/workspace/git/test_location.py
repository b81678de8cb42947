"""A `.git` that is no repository means that there is none: agent programs leave empty ones behind."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.workspace.repositories import Shop

from ramet.config import database_trust
from ramet.config.layers import load
from ramet.workspace import surroundings
from ramet.workspace.git import repository
from ramet.workspace.git.location import locate

ROOT = Path(__file__).parents[3]
PATIENCE_SECONDS = 600


def empty(git: Path) -> None:
    git.mkdir()


def only_head(git: Path) -> None:
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")


def broken_head(git: Path) -> None:
    (git / "objects").mkdir(parents=True)
    (git / "refs").mkdir()
    (git / "HEAD").write_text("")


def no_refs(git: Path) -> None:
    only_head(git)
    (git / "objects").mkdir()


def empty_file(git: Path) -> None:
    git.write_text("")


def names_nothing(git: Path) -> None:
    git.write_text("gitdir: /nowhere/at/all\n")


def names_an_empty_folder(git: Path) -> None:
    (git.parent / "elsewhere").mkdir()
    git.write_text("gitdir: elsewhere\n")


def dangling_link(git: Path) -> None:
    git.symlink_to("nowhere")


def pipe(git: Path) -> None:
    os.mkfifo(git)


BROKEN = [
    empty,
    only_head,
    broken_head,
    no_refs,
    empty_file,
    names_nothing,
    names_an_empty_folder,
    dangling_link,
    pipe,
]


@pytest.mark.requirement("R363")
@pytest.mark.parametrize("depth", ["", "a/b"], ids=["at the project", "above the project"])
@pytest.mark.parametrize("make", BROKEN, ids=lambda make: make.__name__)
def test_a_git_entry_that_is_no_repository_is_none(shop: Shop, make: Callable[[Path], None], depth: str) -> None:
    top = shop.root / "plain"
    project = top / depth
    project.mkdir(parents=True)
    make(top / ".git")
    assert locate(project) is None
    assert repository.find(shop.git, str(project)) is None


@pytest.mark.requirement("R363")
@pytest.mark.parametrize("make", BROKEN, ids=lambda make: make.__name__)
def test_a_broken_git_entry_inside_a_repository_does_not_hide_the_repository(
    shop: Shop, make: Callable[[Path], None]
) -> None:
    inner = shop.project / "inner"
    inner.mkdir()
    (inner / "b.txt").write_text("two\n")
    shop.commit(shop.project, "inner")
    make(inner / ".git")
    found = repository.find(shop.git, str(inner))
    assert found is not None
    assert (found.checkout, found.prefix) == (shop.project, "inner")


def test_every_form_of_a_real_repository_is_found(shop: Shop) -> None:
    assert locate(shop.project / "anything") == (shop.project, shop.project / ".git", shop.project / ".git")
    linked = shop.root / "linked"
    shop.run(shop.project, "worktree", "add", "-q", "--detach", str(linked))
    location = locate(linked)
    assert location is not None
    assert (location.top, location.common, location.is_linked) == (linked, shop.project / ".git", True)
    head = shop.project / ".git" / "HEAD"
    head.unlink()
    head.symlink_to("refs/heads/not-born")
    assert locate(shop.project) is not None
    fresh = shop.root / "fresh"
    fresh.mkdir()
    shop.run(fresh, "init", "-q", f"--separate-git-dir={shop.root / 'kept'}")
    assert locate(fresh) == (fresh, shop.root / "kept", shop.root / "kept")


def test_a_path_of_many_folders_that_are_not_there_costs_little(tmp_path: Path) -> None:
    """An agent's program names the path, and an agent waits for the answer."""
    deep = tmp_path / ("a/" * ((4000 - len(str(tmp_path))) // 2))
    start = time.process_time()
    assert locate(deep) is None
    assert time.process_time() - start < 1


@pytest.mark.requirement("R363")
@pytest.mark.parametrize("make", BROKEN, ids=lambda make: make.__name__)
def test_a_git_entry_that_is_no_repository_makes_no_project(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """Neither for the configuration, nor for the trust in a database, nor for an agent that reports by hooks."""
    folder = tmp_path / "above" / "plain"
    folder.mkdir(parents=True)
    make(tmp_path / "above" / ".git")
    (tmp_path / "above" / "ramet.yaml").write_text("runs: {review_rounds: 7}")
    environ = {"HOME": str(tmp_path / "home"), "PATH": "/bin"}
    assert load(environ, folder, {}).settings.runs.review_rounds != 7
    (tmp_path / "above" / "ramet.yaml").unlink()
    assert database_trust.find_project(folder / "ramet.db", tmp_path / "home") is None
    assert surroundings.find_top(folder) == (folder, False)


_BELOW = [
    "tests/config/test_database_trust.py",
    "tests/config/test_layers.py",
    "tests/config/test_project_files.py",
    "tests/workspace/test_surroundings.py",
    "tests/workspace/worktrees/test_starting_point.py",
]


@pytest.mark.requirement("R363")
def test_the_tests_pass_below_a_folder_with_a_git_entry_that_is_no_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'below'}"]
    done = subprocess.run(
        [*command, *_BELOW], cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout
