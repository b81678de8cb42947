"""`worktree.list` and `worktree.clean`: what nothing needs goes, and what exists nowhere else is kept."""

from pathlib import Path
from typing import Any

import pytest
from tests.conformance import queue_worker
from tests.runner.desk import Desk

from ramet.errors import ProjectNotFound
from ramet.runner.settlement.worktrees import owner_of
from ramet.workspace.worktrees import worktree
from ramet.workspace.worktrees.worktree import Worktree


def work_in(desk: Desk, effort: Any) -> Worktree:
    """Make the effort's worktree, claim it and begin, as a worker does."""
    git, folder = desk.machine.git, desk.machine.places.worktrees
    made = worktree.prepare(git, folder, str(desk.project), f"e{effort.id}", owner=owner_of(effort))
    assert made is not None
    claimed = queue_worker.claim(desk.world, effort_id=effort.id)
    queue_worker.begin(desk.world, claimed, worktree=made.path, git_branch=made.branch, git_base=made.base)
    return made


def finished_in(desk: Desk) -> tuple[Any, Worktree]:
    effort = desk.add("do")
    made = work_in(desk, effort)
    return queue_worker.complete(desk.world, desk.world.call("work.get", effort_id=effort.id)), made


def clean(desk: Desk, **params: Any) -> Any:
    [cleaned] = desk.call("worktree.clean", **params).items
    return cleaned


def test_the_list_says_whose_each_is_and_what_is_in_it(desk: Desk) -> None:
    effort = desk.add("do")
    made = work_in(desk, effort)
    (Path(made.path) / "b.txt").write_text("b\n")
    desk.shop.commit(made.path, "work")
    (Path(made.path) / "c.txt").write_text("c\n")
    [row] = desk.call("worktree.list").items
    assert (row.path, row.project, row.branch) == (made.path, str(desk.project), made.branch)
    assert (row.effort_id, row.state, row.uncommitted_files, row.unpushed_commits) == (effort.id, "in_use", 1, 1)
    assert row.head == desk.shop.run(made.path, "rev-parse", "HEAD")
    assert row.bytes > 0
    queue_worker.complete(desk.world, desk.world.call("work.get", effort_id=effort.id))
    assert [each.state for each in desk.call("worktree.list").items] == ["idle"]


def test_the_list_can_be_asked_for_one_project(desk: Desk) -> None:
    finished_in(desk)
    other = desk.world.call("db.project.upsert", path=str(desk.shop.make_repository("other")))
    assert len(desk.call("worktree.list", project=str(desk.project)).items) == 1
    assert desk.call("worktree.list", project=other.id).items == []
    with pytest.raises(ProjectNotFound):
        desk.call("worktree.list", project="/nowhere")


@pytest.mark.requirement("R302")
def test_cleaning_keeps_what_exists_nowhere_else(desk: Desk) -> None:
    _, made = finished_in(desk)
    (Path(made.path) / "precious.txt").write_text("mine\n")
    foretold = clean(desk, dry_run=True)
    assert (foretold.removed, foretold.reason) == (
        False,
        "it would be removed, and 1 uncommitted files and 0 commits kept",
    )
    cleaned = clean(desk)
    assert cleaned.removed
    assert cleaned.preserved_ref in cleaned.reason
    assert desk.shop.show(f"{cleaned.preserved_ref}:precious.txt") == "mine"
    assert not Path(made.path).exists()
    assert desk.call("worktree.list").items == []


@pytest.mark.requirement("R302")
def test_only_the_very_path_gives_work_up(desk: Desk) -> None:
    _, made = finished_in(desk)
    (Path(made.path) / "precious.txt").write_text("mine\n")
    [refused] = desk.call("worktree.clean", paths=[f"{made.path}-2"], discard=[]).items
    assert (refused.removed, refused.reason) == (False, "Ramet did not create this worktree")
    [parent] = desk.call("worktree.clean", paths=[], discard=[str(Path(made.path).parent)]).items
    assert not parent.removed
    assert (Path(made.path) / "precious.txt").exists()
    cleaned = clean(desk, paths=[made.path], discard=[made.path])
    assert (cleaned.removed, cleaned.preserved_ref, cleaned.reason) == (True, None, "its work was discarded")
    assert desk.shop.kept() == []


@pytest.mark.requirement("R302")
@pytest.mark.parametrize("user", ["active", "requeued", "waiting"])
def test_what_an_unfinished_effort_needs_stays(desk: Desk, user: str) -> None:
    effort = desk.add("do")
    made = work_in(desk, effort)
    current = desk.world.call("work.get", effort_id=effort.id)
    if user == "requeued":
        queue_worker.complete(desk.world, current, "error", failure="transient")
    elif user == "waiting":
        queue_worker.complete(desk.world, current)
        effort = desk.add("review", based_on=effort.id)
    cleaned = clean(desk, paths=[made.path], discard=[made.path])
    assert (cleaned.removed, cleaned.reason) == (False, f"e{effort.id} still needs it")
    assert Path(made.path).is_dir()


@pytest.mark.requirement("R302")
def test_worktrees_of_another_database_are_nobodys_business_here(desk: Desk) -> None:
    _, made = finished_in(desk)
    desk.world.sql("UPDATE efforts SET worktree = NULL, created_at = '2020-01-01T00:00:00.000Z'")
    [row] = desk.call("worktree.list").items
    assert (row.state, row.effort_id) == ("foreign", None)
    cleaned = clean(desk, paths=[made.path], discard=[made.path])
    assert not cleaned.removed
    assert "git worktree remove" in cleaned.reason
    assert Path(made.path).is_dir()


@pytest.mark.requirement("R302")
def test_one_that_cannot_be_cleaned_does_not_keep_the_others(desk: Desk) -> None:
    _, locked = finished_in(desk)
    _, made = finished_in(desk)
    desk.shop.run(desk.project, "worktree", "lock", locked.path)
    cleaned = {each.path: each for each in desk.call("worktree.clean").items}
    assert cleaned[made.path].removed
    assert not cleaned[locked.path].removed
    assert "locked" in cleaned[locked.path].reason
    assert desk.call("worktree.list").items[0].state == "locked"


def test_the_drivers_are_listed(desk: Desk) -> None:
    assert {"claude", "codex", "command", "shell"} <= {
        row.name for row in desk.call("drivers.list", versions=False).items
    }
