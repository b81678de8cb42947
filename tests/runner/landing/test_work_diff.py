"""`work.diff`: the code that efforts and runs have changed, from real repositories and worktrees."""

from pathlib import Path
from typing import Any

import pytest
from tests.conformance import queue_worker
from tests.runner.desk import Desk
from tests.runner.run_desk import RunDesk, line

from ramet.errors import BadRequest
from ramet.workspace.worktrees.worktree import Worktree


def begin(desk: Desk, name: str | None = None, start: str | None = None) -> tuple[Any, Worktree]:
    """An effort whose agent works, and its worktree."""
    effort = desk.add("implement")
    worktree = desk.shop.prepare(name or f"e{effort.id}", start)
    claimed = queue_worker.claim(desk.world, effort_id=effort.id)
    place = {"worktree": worktree.path, "git_branch": worktree.branch, "git_base": worktree.base}
    queue_worker.begin(desk.world, claimed, **place)
    return claimed, worktree


def finish(desk: Desk, claimed: Any, worktree: Worktree) -> None:
    head = desk.shop.finish(worktree).head
    queue_worker.complete(desk.world, claimed, git_head=head, git_branch=worktree.branch)


def only(desk: Desk, claimed: Any, **params: Any) -> Any:
    [branch] = desk.call("work.diff", effort_id=claimed.id, **params).branches
    return branch


def as_pairs(branch: Any) -> list[tuple[str, str, int | None, int | None]]:
    return [(file.path, file.status, file.insertions, file.deletions) for file in branch.files]


@pytest.mark.requirement("R400")
def test_the_change_of_an_effort_is_its_commits(desk: Desk) -> None:
    claimed, worktree = begin(desk)
    top = Path(worktree.path)
    (top / "a.txt").rename(top / "b.txt")
    (top / "image").write_bytes(b"\x00\x01")
    desk.shop.commit(top, "work")
    (top / "cart.py").write_text("one\ntwo\n")
    finish(desk, claimed, worktree)
    desk.shop.commit(desk.project, "something else")
    branch = only(desk, claimed)
    expected = [("b.txt", "renamed", 0, 0), ("cart.py", "added", 2, 0), ("image", "added", None, None)]
    assert as_pairs(branch) == expected
    assert branch.files[0].former_path == "a.txt"
    assert (branch.insertions, branch.deletions, branch.worktree, branch.note) == (2, 0, None, None)
    assert "+one\n+two\n" in branch.patch
    assert only(desk, claimed, has_patch=False).patch is None


@pytest.mark.requirement("R400")
def test_uncommitted_changes_of_running_work_are_included_and_nothing_is_written(desk: Desk) -> None:
    claimed, worktree = begin(desk)
    top = Path(worktree.path)
    desk.shop.run(top, "rm", "-q", "--cached", "a.txt")
    (top / "a.txt").write_text("one\ntwo\n")
    (top / "staged.txt").write_text("staged\n")
    desk.shop.run(top, "add", "staged.txt")
    (top / "new.txt").write_text("new\n")
    index = Path(desk.shop.run(top, "rev-parse", "--path-format=absolute", "--git-path", "index"))
    before = index.read_bytes(), index.stat().st_mtime_ns
    branch = only(desk, claimed)
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before
    content = desk.shop.run(top, "hash-object", "new.txt")
    assert content not in desk.shop.run(desk.project, "cat-file", "--batch-all-objects", "--batch-check")
    assert as_pairs(branch) == [
        ("a.txt", "modified", 1, 0),
        ("new.txt", "added", 1, 0),
        ("staged.txt", "added", 1, 0),
    ]
    assert (branch.head, branch.worktree) == (None, worktree.path)


@pytest.mark.requirement("R400")
def test_a_run_shows_each_branch_once_and_leaves_out_those_that_another_contains(desk: Desk) -> None:
    lines = [line("1"), line("2", depends_on=["1"]), line("3")]
    run = RunDesk(desk, lines, mode="parallel")
    start = desk.shop.run(desk.project, "rev-parse", "HEAD")
    desk.world.sql("UPDATE runs SET base_commit = :start WHERE id = :id", start=start, id=run.id)
    heads: dict[str, str] = {}
    for name in ("1", "2", "3"):
        claimed = run.claim()
        worktree = desk.shop.prepare(f"e{claimed.id}", heads.get("1") if claimed.run_line == "2" else start)
        (Path(worktree.path) / f"{claimed.run_line}.txt").write_text("x\n")
        place = {"worktree": worktree.path, "git_branch": worktree.branch, "git_base": worktree.base}
        heads[claimed.run_line] = desk.shop.finish(worktree).head
        run.finish(claimed, git_head=heads[claimed.run_line], **place)
        assert claimed.run_line == name
    branches = desk.call("work.diff", run_id=run.id).branches
    assert [[file.path for file in branch.files] for branch in branches] == [["1.txt", "2.txt"], ["3.txt"]]


@pytest.mark.requirement("R400")
def test_a_large_patch_is_cut_at_a_line(desk: Desk) -> None:
    claimed, worktree = begin(desk)
    (Path(worktree.path) / "large.txt").write_text("0123456789\n" * 100_000)
    finish(desk, claimed, worktree)
    branch = only(desk, claimed, max_bytes=1000)
    assert branch.is_patch_cut
    assert 900 < len(branch.patch) <= 1000
    assert branch.patch.endswith("+0123456789\n")
    assert branch.insertions == 100_000


@pytest.mark.requirement("R400")
def test_a_repository_starts_no_program_of_its_own(desk: Desk) -> None:
    claimed, worktree = begin(desk)
    top = Path(worktree.path)
    trap = desk.shop.root / "trap"
    for key in ("diff.x.textconv", "diff.x.command", "diff.external", "filter.x.clean", "core.fsmonitor"):
        desk.shop.run(top, "config", key, f"touch {trap};cat")
    (top / ".gitattributes").write_text("* diff=x filter=x\n")
    (top / "a.txt").write_text("two\n")
    trap.unlink(missing_ok=True)
    assert [pair[0] for pair in as_pairs(only(desk, claimed))] == [".gitattributes", "a.txt"]
    assert not trap.exists()


@pytest.mark.requirement("R400")
def test_work_without_a_branch_or_without_its_commits_says_so(desk: Desk) -> None:
    waiting = desk.add("implement")
    assert only(desk, waiting).note == f"e{waiting.id} has not started"
    claimed, worktree = begin(desk)
    finish(desk, claimed, worktree)
    desk.world.sql("UPDATE efforts SET git_head = :head WHERE id = :id", head="1" * 40, id=claimed.id)
    assert f"commit 11111111 of e{claimed.id} is not in {desk.project}" in only(desk, claimed).note
    with pytest.raises(BadRequest, match="either effort_id or run_id"):
        desk.call("work.diff")
