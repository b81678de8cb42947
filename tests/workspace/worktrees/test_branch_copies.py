"""The copy of a branch that a sandboxed agent moves, and how the branch follows."""

import os
from pathlib import Path

import pytest
from tests.workspace.repositories import Shop

from ramet.errors import SandboxUnavailable
from ramet.workspace.git.repository import Repository, find
from ramet.workspace.worktrees import branch_copies, inventory
from ramet.workspace.worktrees.branch_copies import BranchCopy

BRANCH = "refs/heads/ramet/e1"


class Sandboxed:
    """A worktree whose agent has a copy of its branch."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.worktree = shop.prepare("e1")
        self.top = Path(self.worktree.path)
        self.copy = self.offer()

    @property
    def repository(self) -> Repository:
        found = find(self.shop.git, str(self.shop.project))
        assert found is not None
        return found

    def offer(self) -> BranchCopy:
        return branch_copies.offer(self.repository, self.top)

    def take(self) -> str | None:
        return branch_copies.take(self.repository, self.top)

    def commit(self, message: str) -> str:
        """A commit that no ref leads to, as the agent's git makes it; its copy of the ref moves."""
        tree, parent = "HEAD^{tree}", self.ref
        commit = self.shop.run(self.top, "commit-tree", tree, "-p", parent, "-m", message)
        (self.copy.refs / "e1").write_text(f"{commit}\n")
        return commit

    @property
    def ref(self) -> str:
        return (self.copy.refs / "e1").read_text().strip()

    @property
    def branch(self) -> str:
        return self.shop.run(self.shop.project, "rev-parse", BRANCH)


@pytest.fixture
def sandboxed(shop: Shop) -> Sandboxed:
    return Sandboxed(shop)


def test_the_copy_has_the_agents_own_ref_and_no_other(sandboxed: Sandboxed) -> None:
    sandboxed.shop.run(sandboxed.shop.project, "update-ref", "refs/heads/ramet/e2", "HEAD")
    assert [path.name for path in sandboxed.copy.refs.iterdir()] == ["e1"]
    assert sandboxed.ref == sandboxed.branch


def test_the_branch_follows_its_copy(sandboxed: Sandboxed) -> None:
    commit = sandboxed.commit("from inside")
    assert sandboxed.branch != commit
    assert sandboxed.take() is None
    assert sandboxed.branch == commit


def test_the_branch_follows_where_the_agent_took_a_commit_back(sandboxed: Sandboxed) -> None:
    first = sandboxed.branch
    sandboxed.commit("a mistake")
    sandboxed.take()
    sandboxed.offer()
    (sandboxed.copy.refs / "e1").write_text(f"{first}\n")
    sandboxed.take()
    assert sandboxed.branch == first


def test_the_end_of_an_attempt_takes_the_commits_in(sandboxed: Sandboxed) -> None:
    commit = sandboxed.commit("from inside")
    (sandboxed.top / "left.txt").write_text("uncommitted\n")
    finished = sandboxed.shop.finish(sandboxed.worktree)
    assert sandboxed.shop.run(sandboxed.shop.project, "rev-parse", f"{finished.head}~1") == commit
    assert sandboxed.ref == finished.head, "a child that still works there sees the branch as it is"


def test_a_branch_that_a_person_moved_is_not_moved_back_and_the_agents_commits_are_kept(sandboxed: Sandboxed) -> None:
    commit = sandboxed.commit("from inside")
    shop = sandboxed.shop
    moved = shop.run(shop.project, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "by hand")
    shop.run(shop.project, "update-ref", BRANCH, moved)
    note = sandboxed.take()
    assert note is not None
    assert sandboxed.branch == moved
    assert shop.run(shop.project, "rev-parse", note.rpartition(" ")[2]) == commit


def test_a_branch_that_a_person_moved_between_attempts_is_offered_as_it_is(sandboxed: Sandboxed) -> None:
    shop = sandboxed.shop
    moved = shop.run(shop.project, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "by hand")
    shop.run(shop.project, "update-ref", BRANCH, moved)
    sandboxed.offer()
    assert sandboxed.ref == moved


@pytest.mark.parametrize("text", ["", "ref: refs/heads/main\n", "../../../etc/passwd", "f" * 40 + "\n", "x" * 1000])
def test_a_copy_that_names_no_commit_moves_nothing(sandboxed: Sandboxed, text: str) -> None:
    before = sandboxed.branch
    (sandboxed.copy.refs / "e1").write_text(text)
    assert sandboxed.take() is None
    assert sandboxed.branch == before


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "nothing"])
def test_a_copy_that_is_no_file_moves_nothing(sandboxed: Sandboxed, kind: str) -> None:
    before, ref = sandboxed.branch, sandboxed.copy.refs / "e1"
    ref.unlink()
    if kind == "link":
        ref.symlink_to(sandboxed.shop.project / ".git" / "refs" / "heads" / "main")
    elif kind == "folder":
        ref.mkdir()
    elif kind == "pipe":
        os.mkfifo(ref)
    assert sandboxed.take() is None
    assert sandboxed.branch == before


def test_links_that_an_agent_left_for_our_git_are_removed(sandboxed: Sandboxed) -> None:
    """git writes an index through a link, and so would overwrite any file of the user's."""
    shop, own = sandboxed.shop, sandboxed.shop.project / ".git" / "worktrees" / "e1"
    victim = shop.home / ".bashrc"
    victim.write_text("# the user's shell\n")
    (own / "index").unlink()
    (own / "index").symlink_to(victim)
    (own / "logs" / "deep").symlink_to(shop.home)
    (shop.project / ".git" / "objects" / "00").symlink_to(shop.home)
    (sandboxed.top / "left.txt").write_text("uncommitted\n")
    shop.finish(sandboxed.worktree)
    assert victim.read_text() == "# the user's shell\n"
    assert not (own / "logs" / "deep").is_symlink()
    assert not (shop.project / ".git" / "objects" / "00").is_symlink()
    assert [path.name for path in shop.home.iterdir()] == [".bashrc"]
    assert shop.run(shop.project, "show", f"{BRANCH}:left.txt") == "uncommitted"


@pytest.mark.parametrize("name", ["HEAD", "index", "ORIG_HEAD"])
def test_pipes_that_our_git_would_wait_for_are_removed(sandboxed: Sandboxed, name: str) -> None:
    """git lists the worktrees of a repository by opening every HEAD: one pipe stopped the work on all of them."""
    pipe = sandboxed.shop.project / ".git" / "worktrees" / "e1" / name
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    (sandboxed.top / "left.txt").write_text("uncommitted\n")
    sandboxed.shop.finish(sandboxed.worktree)
    assert not pipe.is_fifo()
    assert (sandboxed.top / "left.txt").exists()


@pytest.mark.parametrize("name", [".gitattributes", ".gitignore", "below/.gitattributes", ".gitmodules"])
def test_pipes_in_the_worktree_are_removed_where_git_reads(sandboxed: Sandboxed, name: str) -> None:
    (sandboxed.top / "below").mkdir()
    (sandboxed.top / "below" / "left.txt").write_text("uncommitted\n")
    os.mkfifo(sandboxed.top / name)
    os.mkfifo(sandboxed.top / "below" / "pipe")
    sandboxed.shop.finish(sandboxed.worktree)
    assert sandboxed.shop.run(sandboxed.shop.project, "show", f"{BRANCH}:below/left.txt") == "uncommitted"
    assert (sandboxed.top / "below" / "pipe").is_fifo()


def test_a_worktree_that_leads_to_another_folder_removes_nothing_there(sandboxed: Sandboxed) -> None:
    other = sandboxed.shop.make_repository("other") / ".git"
    (other / "link").symlink_to("HEAD")
    (sandboxed.top / ".git").write_text(f"gitdir: {other}\n")
    sandboxed.take()
    assert (other / "link").is_symlink()


def test_the_lock_of_a_git_that_was_killed_does_not_stay(sandboxed: Sandboxed) -> None:
    (sandboxed.copy.refs / "e1.lock").touch()
    sandboxed.offer()
    assert not (sandboxed.copy.refs / "e1.lock").exists()


def test_packing_the_repository_does_not_remove_the_folder_that_is_mounted_over(sandboxed: Sandboxed) -> None:
    shop = sandboxed.shop
    shop.run(shop.project, "pack-refs", "--all", "--prune")
    shop.run(shop.project, "gc", "-q")
    assert (shop.project / ".git" / "refs" / "heads" / "ramet").is_dir()
    assert shop.run(shop.project, "fsck", "--strict") == ""


def test_the_copy_goes_with_its_worktree(sandboxed: Sandboxed) -> None:
    commit = sandboxed.commit("from inside")
    ref = inventory.remove(sandboxed.shop.found(sandboxed.worktree))
    assert sandboxed.shop.run(sandboxed.shop.project, "rev-parse", ref or "") == commit
    assert not sandboxed.copy.refs.exists()


def test_a_repository_with_another_format_of_refs_is_refused(sandboxed: Sandboxed) -> None:
    (sandboxed.shop.project / ".git" / "reftable").mkdir()
    with pytest.raises(SandboxUnavailable, match="reftable") as refusal:
        sandboxed.offer()
    assert "refs migrate" in refusal.value.fix
