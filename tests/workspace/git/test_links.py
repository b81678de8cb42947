"""git writes through no link that an agent left in the repository, and moves no branch but the worktree's own."""

from pathlib import Path

import pytest
from tests.workspace.repositories import Shop

from ramet.workspace.git import links


@pytest.mark.requirement("R337")
@pytest.mark.parametrize("file", ["worktrees/e1/index", "worktrees/e1/logs/HEAD"])
def test_a_link_among_the_files_of_a_worktree_is_removed_and_its_work_kept(shop: Shop, file: str) -> None:
    worktree = shop.prepare("e1")
    outside = shop.root / "outside"
    path = shop.project / ".git" / file
    path.rename(outside)
    before = outside.read_bytes()
    path.symlink_to(outside)
    Path(worktree.path, "b.txt").write_text("b\n")
    assert shop.finish(worktree).changes.files == ["b.txt"]
    assert outside.read_bytes() == before
    assert shop.show("ramet/e1:b.txt") == "b"


@pytest.mark.requirement("R337")
@pytest.mark.parametrize("file", ["logs/refs/heads/ramet/e1"])
def test_a_link_in_place_of_a_file_that_git_writes_is_refused(shop: Shop, file: str) -> None:
    worktree = shop.prepare("e1")
    outside = shop.root / "outside"
    path = shop.project / ".git" / file
    path.rename(outside)
    before = outside.read_bytes()
    path.symlink_to(outside)
    Path(worktree.path, "b.txt").write_text("b\n")
    finished = shop.finish(worktree)
    assert finished.note is not None
    assert "is a symbolic link" in finished.note
    assert outside.read_bytes() == before
    assert Path(worktree.path, "b.txt").read_text() == "b\n"


@pytest.mark.requirement("R337")
def test_a_folder_of_refs_or_logs_that_leads_elsewhere_is_refused(shop: Shop) -> None:
    worktree = shop.prepare("e1")
    outside = shop.root / "outside"
    for folder in ("logs/refs/heads/ramet", "refs/heads/ramet", "logs"):
        path = shop.project / ".git" / folder
        path.rename(outside)
        path.symlink_to(outside)
        Path(worktree.path, "b.txt").write_text(folder)
        assert "is a symbolic link" in str(shop.finish(worktree).note)
        path.unlink()
        outside.rename(path)
    assert shop.finish(worktree).note is None


@pytest.mark.requirement("R337")
def test_a_branch_that_stands_for_another_one_does_not_move_it(shop: Shop) -> None:
    worktree = shop.prepare("e1")
    before = shop.run(shop.project, "rev-parse", "main")
    shop.run(shop.project, "symbolic-ref", "refs/heads/ramet/e1", "refs/heads/main")
    Path(worktree.path, "b.txt").write_text("b\n")
    shop.finish(worktree)
    assert shop.run(shop.project, "rev-parse", "main") == before
    assert shop.show("ramet/e1:b.txt") == "b"


def test_a_worktree_that_leads_to_the_folder_of_another_one_is_led_back(shop: Shop) -> None:
    one, two = shop.prepare("e1"), shop.prepare("e2")
    Path(one.path, ".git").write_text(Path(two.path, ".git").read_text())
    Path(one.path, "b.txt").write_text("b\n")
    assert shop.finish(one).changes.files == ["b.txt"]
    assert shop.run(two.path, "symbolic-ref", "HEAD") == "refs/heads/ramet/e2"


def test_both_sides_of_a_worktree_say_where_the_other_is_and_not_where_our_view_is(shop: Shop) -> None:
    worktree = shop.prepare("e1")
    common = shop.project / ".git"
    assert Path(worktree.path, ".git").read_text() == f"gitdir: {common}/worktrees/e1\n"
    assert (common / "worktrees" / "e1" / "gitdir").read_text() == f"{worktree.path}/.git\n"
    assert links.join(common, Path(worktree.path))
    assert not links.join(common, shop.root / "nowhere")
