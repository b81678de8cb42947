"""Removing worktrees: nothing that exists only there goes with them, unless its path was named for it."""

import shutil
from pathlib import Path

import pytest
from tests.workspace.repositories import Shop

from ramet.errors import GitFailed, WorktreeError
from ramet.workspace.worktrees import inventory, kept_work
from ramet.workspace.worktrees.worktree import Worktree


def remove(shop: Shop, worktree: Worktree, *, discard: bool = False) -> str | None:
    return inventory.remove(shop.found(worktree), discard=discard)


@pytest.mark.requirement("R302")
def test_uncommitted_work_is_kept_under_a_private_ref_before_a_worktree_goes(shop: Shop) -> None:
    worktree = shop.prepare()
    path = Path(worktree.path)
    (path / "a.txt").write_text("changed\n")
    (path / "staged.txt").write_text("staged\n")
    shop.run(path, "add", "staged.txt")
    (path / "staged.txt").unlink()
    (path / "new\nline").write_text("new\n")
    ref = remove(shop, worktree)
    assert ref is not None
    assert ref.startswith("refs/ramet/kept/e1-")
    assert not path.exists()
    assert shop.show(f"{ref}:a.txt") == "changed"
    assert shop.show(f"{ref}:new\nline") == "new"
    assert shop.show(f"{ref}^2:staged.txt") == "staged"
    shop.run(shop.project, "gc", "-q", "--prune=now")
    assert shop.show(f"{ref}:a.txt") == "changed"


@pytest.mark.requirement("R302")
def test_keeping_touches_neither_the_files_nor_the_index(shop: Shop) -> None:
    worktree = shop.prepare()
    path = Path(worktree.path)
    (path / "a.txt").write_text("changed\n")
    (path / "new.txt").write_text("new\n")
    shop.run(path, "add", "-N", "new.txt")
    folder = Path(shop.run(path, "rev-parse", "--absolute-git-dir"))
    before = (folder / "index").read_bytes(), shop.run(path, "status", "--porcelain")
    assert kept_work.preserve(shop.git, path) is not None
    assert before == ((folder / "index").read_bytes(), shop.run(path, "status", "--porcelain"))


@pytest.mark.requirement("R302")
def test_commits_of_ours_are_kept_and_their_branch_stays(shop: Shop) -> None:
    worktree = shop.prepare()
    (Path(worktree.path) / "b.txt").write_text("b\n")
    head = shop.commit(worktree.path, "work")
    assert shop.found(worktree).unpushed_commits == 1
    ref = remove(shop, worktree)
    assert ref is not None
    assert shop.run(shop.project, "rev-parse", ref, "ramet/e1").split() == [head, head]
    assert shop.prepare().base == head


@pytest.mark.requirement("R302")
def test_commits_on_no_branch_at_all_are_kept(shop: Shop) -> None:
    worktree = shop.prepare()
    shop.run(worktree.path, "checkout", "-q", "--detach")
    head = shop.commit(worktree.path, "on no branch")
    ref = remove(shop, worktree)
    assert ref is not None
    assert shop.run(shop.project, "rev-parse", ref) == head


def test_where_all_is_merged_the_branch_goes_too_and_nothing_is_kept(shop: Shop) -> None:
    worktree = shop.prepare()
    (Path(worktree.path) / "b.txt").write_text("b\n")
    shop.commit(worktree.path, "work")
    shop.run(shop.project, "merge", "-q", "ramet/e1")
    assert remove(shop, worktree) is None
    assert (shop.branches(), shop.kept()) == (["main"], [])
    assert not Path(worktree.path).with_suffix(".json").exists()
    assert inventory.list_all(shop.git, shop.folder) == []


@pytest.mark.requirement("R302")
def test_only_a_worktree_that_was_named_gives_up_its_work_and_even_then_no_commit(shop: Shop) -> None:
    worktree = shop.prepare()
    head = shop.commit(worktree.path, "work")
    (Path(worktree.path) / "a.txt").write_text("changed\n")
    assert remove(shop, worktree, discard=True) is None
    assert shop.kept() == []
    assert shop.run(shop.project, "rev-parse", "ramet/e1") == head


@pytest.mark.requirement("R302")
def test_what_cannot_be_kept_is_not_removed(shop: Shop) -> None:
    worktree = shop.prepare()
    path = Path(worktree.path)
    (path / "c.txt").write_text("c\n")
    shop.allow("bad")
    shop.run(shop.project, "config", "--global", "filter.bad.clean", "false")
    shop.run(shop.project, "config", "--global", "filter.bad.required", "true")
    (path / ".gitattributes").write_text("c.txt filter=bad\n")
    with pytest.raises(GitFailed):
        remove(shop, worktree)
    assert (path / "c.txt").read_text() == "c\n"


@pytest.mark.requirement("R302")
@pytest.mark.parametrize("kind", ["repository", "submodule"])
def test_a_worktree_with_a_repository_inside_is_removed_only_by_name(shop: Shop, kind: str) -> None:
    library = shop.make_repository("library")
    allow = ("-c", "protocol.file.allow=always")
    if kind == "submodule":
        shop.run(shop.project, *allow, "submodule", "--quiet", "add", str(library), "inner")
        shop.commit(shop.project, "a submodule")
    worktree = shop.prepare()
    if kind == "submodule":
        shop.run(worktree.path, *allow, "submodule", "--quiet", "update", "--init")
    else:
        shop.run(worktree.path, "clone", "-q", str(library), "inner")
    shop.commit(Path(worktree.path, "inner"), "work inside")
    with pytest.raises(WorktreeError, match="inner") as refusal:
        remove(shop, worktree)
    assert "discard" in refusal.value.fix
    assert Path(worktree.path, "inner", "a.txt").exists()
    assert remove(shop, worktree, discard=True) is None
    assert not Path(worktree.path).exists()


@pytest.mark.requirement("R302")
def test_a_locked_worktree_stays_even_when_it_is_named(shop: Shop) -> None:
    worktree = shop.prepare()
    shop.run(shop.project, "worktree", "lock", worktree.path)
    assert shop.found(worktree).state == "locked"
    with pytest.raises(WorktreeError, match="locked"):
        remove(shop, worktree, discard=True)
    assert Path(worktree.path, "a.txt").exists()


@pytest.mark.requirement("R302")
@pytest.mark.parametrize("kind", ["directory", "link", "unlinked"])
def test_what_is_not_ours_is_listed_and_never_removed(shop: Shop, kind: str) -> None:
    worktree = shop.prepare()
    path = Path(worktree.path)
    match kind:
        case "directory":
            path = path.with_name("notes")
            path.mkdir()
        case "link":
            path.rename(path.with_name("real"))
            path.symlink_to(path.with_name("real"))
        case _:
            (path / ".git").unlink()
    (path / "precious").write_text("mine")
    found = next(found for found in inventory.list_all(shop.git, shop.folder) if found.top == path)
    assert found.state == "foreign"
    with pytest.raises(WorktreeError, match="Ramet did not create"):
        inventory.remove(found, discard=True)
    assert (path / "precious").read_text() == "mine"


def test_one_that_vanished_is_forgotten_and_its_commits_stay(shop: Shop) -> None:
    worktree = shop.prepare()
    head = shop.commit(worktree.path, "work")
    shutil.rmtree(worktree.path)
    assert shop.found(worktree).state == "vanished"
    remove(shop, worktree)
    assert shop.run(shop.project, "rev-parse", "ramet/e1") == head
    assert len(shop.run(shop.project, "worktree", "list").split("\n")) == 1


def test_other_peoples_vanished_worktrees_are_not_forgotten_with_ours(shop: Shop) -> None:
    other = shop.root / "on-a-stick"
    shop.run(shop.project, "worktree", "add", "-q", "--detach", str(other))
    shutil.rmtree(other)
    remove(shop, shop.prepare())
    assert str(other) in shop.run(shop.project, "worktree", "list")


@pytest.mark.requirement("R302")
def test_work_that_appears_after_the_list_was_made_is_kept_too(shop: Shop) -> None:
    worktree = shop.prepare()
    found = shop.found(worktree)
    (Path(worktree.path) / "late.txt").write_text("late\n")
    ref = inventory.remove(found)
    assert shop.show(f"{ref}:late.txt") == "late"


def test_the_list_says_what_is_in_each_that_exists_nowhere_else(shop: Shop) -> None:
    worktree = shop.prepare()
    (Path(worktree.path) / "b.txt").write_text("b\n")
    shop.commit(worktree.path, "work")
    (Path(worktree.path) / "c.txt").write_text("c" * 1000)
    found = shop.found(worktree)
    assert (found.state, found.branch, found.uncommitted_files, found.unpushed_commits) == ("idle", "ramet/e1", 1, 1)
    assert (inventory.measure(found.top) or 0) > 1000
    other = shop.make_repository("other")
    assert inventory.list_all(shop.git, shop.folder, str(other)) == []


def test_worktrees_of_a_project_that_is_gone_are_listed_and_left_alone(shop: Shop) -> None:
    worktree = shop.prepare()
    shop.project.rename(shop.root / "elsewhere")
    assert shop.found(worktree).state == "foreign"
