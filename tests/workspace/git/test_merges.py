"""Branches of a run are merged whole or not at all, and what would conflict is known before."""

import os
import shutil
from pathlib import Path

import pytest
from tests.workspace.repositories import Shop

from ramet.errors import GitFailed, MergeConflict, WorktreeError
from ramet.workspace.git import merges
from ramet.workspace.git.command import Git
from ramet.workspace.git.merges import Tip
from ramet.workspace.git.repository import Repository, find
from ramet.workspace.worktrees import worktree as worktrees
from ramet.workspace.worktrees.worktree import Worktree


def branch(shop: Shop, name: str, start: str | None = None, **files: str) -> Tip:
    """A line's branch on which these files were written: `a` is `a.txt`."""
    worktree = shop.prepare(name, start)
    for file, text in files.items():
        (Path(worktree.path) / f"{file}.txt").write_text(text)
    head = shop.commit(worktree.path, f"what {name} did")
    return Tip(worktree.branch, head, [f"{file}.txt" for file in files])


def merge(shop: Shop, name: str, first: Tip, *others: Tip) -> Worktree:
    """The worktree of a line that needs several."""
    worktree = worktrees.prepare(
        shop.git,
        shop.folder,
        str(shop.project),
        name,
        first.head,
        owner=f"{name} of this database",
        merges={other.head: f"Merge {other.branch}" for other in others},
    )
    assert worktree is not None
    return worktree


def repository(shop: Shop, git: Git | None = None) -> Repository:
    found = find(git or shop.git, str(shop.project))
    assert found is not None
    return found


def test_a_new_worktree_begins_with_all_that_is_merged_into_it(shop: Shop) -> None:
    one, two, three = branch(shop, "e1", b="1\n"), branch(shop, "e2", c="2\n"), branch(shop, "e3", d="3\n")
    worktree = merge(shop, "e4", one, two, three)
    assert sorted(path.name for path in Path(worktree.path).glob("*.txt")) == ["a.txt", "b.txt", "c.txt", "d.txt"]
    assert worktree.base == shop.run(shop.project, "rev-parse", worktree.branch)
    assert shop.run(shop.project, "log", "--first-parent", "--format=%s", "-3", worktree.branch).splitlines() == [
        "Merge ramet/e3",
        "Merge ramet/e2",
        "what e1 did",
    ]
    assert shop.finish(worktree).changes.files == []


def test_what_is_merged_already_is_not_merged_again(shop: Shop) -> None:
    one = branch(shop, "e1", b="1\n")
    two = branch(shop, "e2", one.head, c="2\n")
    assert merge(shop, "e3", two, one).base == two.head


def test_the_merge_is_made_by_the_user_without_their_hooks(shop: Shop) -> None:
    hook = shop.project / ".git" / "hooks" / "pre-merge-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    shop.run(shop.project, "config", "merge.ff", "only")
    worktree = merge(shop, "e3", branch(shop, "e1", b="1\n"), branch(shop, "e2", c="2\n"))
    assert shop.run(shop.project, "log", "-1", "--format=%an", worktree.branch) == "Ramet"
    shop.run(shop.project, "config", "user.name", "Ann")
    shop.run(shop.project, "config", "user.email", "ann@example.org")
    worktree = merge(shop, "e5", branch(shop, "e4", d="1\n"), branch(shop, "e6", e="2\n"))
    assert shop.run(shop.project, "log", "-1", "--format=%an", worktree.branch) == "Ann"


def test_a_conflict_names_the_files_and_leaves_nothing_behind(shop: Shop) -> None:
    one, two, three = branch(shop, "e1", a="1\n"), branch(shop, "e2", b="2\n"), branch(shop, "e3", a="3\n", c="3\n")
    before = (shop.branches(), sorted(path.name for path in shop.folder.rglob("*")))
    with pytest.raises(MergeConflict, match=r"^conflicts in a\.txt$") as conflict:
        merge(shop, "e4", one, two, three)
    assert conflict.value.value == three.head
    assert (shop.branches(), sorted(path.name for path in shop.folder.rglob("*"))) == before
    assert "/e4 " not in shop.run(shop.project, "worktree", "list")


def test_a_merge_that_was_cut_off_is_made_again(shop: Shop) -> None:
    one, two, three = branch(shop, "e1", b="1\n"), branch(shop, "e2", c="2\n"), branch(shop, "e3", a="3\n")
    worktree = merge(shop, "e4", one, two)
    top = Path(worktree.path)
    label = top.parent / "e4.json"
    label.write_text(label.read_text().replace("true", "false"))  # as if it had been killed before the last merge
    (top / "b.txt").write_text("<<<<<<< half\n")
    again = merge(shop, "e4", one, two, three)
    assert again.branch == worktree.branch
    assert {path.name: path.read_text() for path in top.glob("*.txt")} == {
        "a.txt": "3\n",
        "b.txt": "1\n",
        "c.txt": "2\n",
    }


def test_a_commit_that_is_not_here_is_named(shop: Shop) -> None:
    one = branch(shop, "e1", b="1\n")
    for head in ("f" * 40, "--abort"):
        with pytest.raises(WorktreeError, match="is not in"):
            merge(shop, "e2", one, Tip("ramet/e9", head, []))
    assert shop.branches() == ["main", "ramet/e1"]


def test_which_branches_conflict_is_known_without_merging_them(shop: Shop) -> None:
    one, two = branch(shop, "e1", a="1\n", b="1\n"), branch(shop, "e2", a="2\n", b="2\n")
    three, four = branch(shop, "e3", c="3\n"), branch(shop, "e4", one.head, b="4\n")
    clashes = merges.conflicts_between(repository(shop), [one, two, three, four])
    assert clashes == [("ramet/e1", "ramet/e2", ["a.txt", "b.txt"]), ("ramet/e2", "ramet/e4", ["a.txt", "b.txt"])]
    assert shop.run(shop.project, "status", "--porcelain") == ""


def test_a_file_where_another_branch_has_a_folder_is_a_conflict(shop: Shop) -> None:
    one = branch(shop, "e1", cart="a file\n")
    worktree = shop.prepare("e2")
    (Path(worktree.path) / "cart.txt").mkdir()
    (Path(worktree.path) / "cart.txt" / "new").write_text("in a folder\n")
    two = Tip(worktree.branch, shop.commit(worktree.path, "a folder"), ["cart.txt/new"])
    assert [clash[:2] for clash in merges.conflicts_between(repository(shop), [one, two])] == [("ramet/e1", "ramet/e2")]


def test_an_older_git_says_that_it_cannot_foretell(shop: Shop, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    real = shutil.which("git")
    cases = "*version) echo git version 2.34.1;; *merge-tree*) exit 129;;"
    program.write_text(f'#!/bin/sh\ncase "$*" in {cases} *) exec {real} "$@";; esac\n')
    program.chmod(0o755)
    git = Git({**shop.environ, "PATH": f"{program.parent}{os.pathsep}{shop.environ['PATH']}"}, tmp_path / "views")
    tips = [branch(shop, "e1", a="1\n"), branch(shop, "e2", a="2\n")]
    with pytest.raises(GitFailed, match=r"git 2\.34 cannot predict") as refused:
        merges.conflicts_between(repository(shop, git), tips)
    assert "2.38" in refused.value.fix
    assert merges.conflicts_between(repository(shop, git), tips[:1]) == []


def test_a_branch_that_another_one_has_all_of_is_told_with_the_outermost(shop: Shop) -> None:
    one, two, alone = branch(shop, "e1", b="1\n"), branch(shop, "e2", c="2\n"), branch(shop, "e3", d="3\n")
    both = merge(shop, "e4", one, two)
    heads = {each.branch: each.head for each in (one, two, alone)}
    assert merges.contained(repository(shop), heads) == {}
    around = {**heads, "outer": shop.run(Path(both.path), "rev-parse", "HEAD").strip()}
    assert merges.contained(repository(shop), around) == {one.branch: "outer", two.branch: "outer"}
    assert merges.contained(repository(shop), {"a": one.head, "b": one.head}) == {"b": "a"}


def test_what_is_part_of_the_users_branch_is_merged(shop: Shop) -> None:
    one, two = branch(shop, "e1", b="1\n"), branch(shop, "e2", c="2\n")
    shop.run(shop.project, "merge", "-q", "--no-edit", one.branch)
    heads = [one.head, two.head, "f" * 40]
    assert merges.are_merged(repository(shop), heads) == {one.head: True, two.head: False}
    assert merges.are_merged(repository(shop), []) == {}
