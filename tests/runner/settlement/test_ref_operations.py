"""`worktree.tidy`: of the refs that Ramet left in a repository, those go whose commits another ref has."""

from typing import Any

import pytest
from tests.conformance import queue_worker
from tests.runner.desk import Desk

KEPT = "refs/ramet/kept/"


@pytest.fixture
def left(desk: Desk) -> Desk:
    """What many efforts leave: one branch on top of another, one that was merged, copies, and work of its own."""
    run, project = desk.shop.run, desk.project
    start = run(project, "rev-parse", "HEAD")
    first = desk.shop.commit(project, "first")
    second = desk.shop.commit(project, "second")
    run(project, "reset", "-q", "--hard", start)
    merged = desk.shop.commit(project, "merged")
    alone = run(project, "commit-tree", "-p", start, "-m", "uncommitted work", f"{start}^{{tree}}")
    for name, commit in {
        "refs/heads/ramet/e101": first,
        "refs/heads/ramet/e102": second,
        "refs/heads/ramet/e103": merged,
        f"{KEPT}e102-1": second,
        f"{KEPT}e104-1": alone,
        f"{KEPT}e104-2": alone,
    }.items():
        run(project, "update-ref", name, commit)
    return desk


def list_refs(desk: Desk) -> list[str]:
    places = ("refs/heads/ramet/", KEPT)
    return desk.shop.run(desk.project, "for-each-ref", "--format=%(refname)", *places).split()


def tidy(desk: Desk, **params: Any) -> dict[str, tuple[bool, str]]:
    return {row.ref: (row.removed, row.reason) for row in desk.call("worktree.tidy", **params).items}


def test_a_ref_goes_if_another_one_that_stays_has_all_of_it(left: Desk) -> None:
    commits = left.shop.run(left.project, "rev-list", "--all").split()
    told = tidy(left)
    assert {name for name, (removed, _) in told.items() if not removed} == set(list_refs(left))
    assert told["refs/heads/ramet/e103"] == (True, "refs/heads/main has all of it")
    assert told["refs/heads/ramet/e101"] == (True, "refs/heads/ramet/e102 has all of it")
    assert told[f"{KEPT}e104-1"] == (True, f"{KEPT}e104-2 has all of it")
    assert told[f"{KEPT}e104-2"] == (False, "its work exists only here")
    assert sorted(left.shop.run(left.project, "rev-list", "--all").split()) == sorted(commits), "no commit is lost"
    again = tidy(left)
    assert [removed for removed, _ in again.values()] == [False] * len(again)


def test_a_dry_run_deletes_nothing(left: Desk) -> None:
    before = list_refs(left)
    foretold = tidy(left, dry_run=True)
    assert list_refs(left) == before
    assert tidy(left) == foretold


def test_a_branch_that_is_checked_out_or_needed_stays(left: Desk) -> None:
    left.shop.run(left.project, "worktree", "add", "-q", str(left.shop.root / "mine"), "ramet/e103")
    effort = left.add("do")
    claimed = queue_worker.claim(left.world, effort_id=effort.id)
    queue_worker.begin(left.world, claimed, worktree="/gone", git_branch="ramet/e101", git_base="0" * 40)
    told = tidy(left)
    assert told["refs/heads/ramet/e103"] == (False, f"{left.shop.root / 'mine'} is on it")
    assert told["refs/heads/ramet/e101"] == (False, f"e{effort.id} still needs it")


def test_only_the_repository_of_the_project_is_tidied(left: Desk) -> None:
    other = left.shop.make_repository("other")
    left.shop.run(other, "branch", "ramet/e9")
    project = left.world.call("db.project.upsert", path=str(other)).id
    assert list(tidy(left, project=project)) == ["refs/heads/ramet/e9"]
    left.world.call("db.project.upsert", path=str(left.shop.root / "nowhere"))
    assert len(tidy(left)) == 6, "a project that is gone stops nothing"
