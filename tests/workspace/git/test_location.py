"""A `.git` that is no repository means that there is none: agent programs leave empty ones behind."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.workspace.repositories import Shop

from ramet.workspace.git import repository
from ramet.workspace.git.location import locate


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


@pytest.mark.parametrize("depth", ["", "a/b"], ids=["at the project", "above the project"])
@pytest.mark.parametrize("make", BROKEN, ids=lambda make: make.__name__)
def test_a_git_entry_that_is_no_repository_is_none(shop: Shop, make: Callable[[Path], None], depth: str) -> None:
    top = shop.root / "plain"
    project = top / depth
    project.mkdir(parents=True)
    make(top / ".git")
    assert locate(project) is None
    assert repository.find(shop.git, str(project)) is None


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
