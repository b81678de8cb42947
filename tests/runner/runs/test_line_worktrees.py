"""Where the lines of a run work: behind each other in one worktree, or each where those ended that it needs."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.runner.desk import Desk
from tests.runner.run_desk import RunDesk, line

from ramet.cli.screens.run import print_ending
from ramet.config.settings import DatabaseSettings
from ramet.errors import MergeConflict, NoStart, RunNotFound, WorktreeRefused
from ramet.runner.machine import Machine
from ramet.runner.runs import line_worktrees
from ramet.workspace.worktrees.worktree import Worktree


class Lines(RunDesk):
    """A run whose lines are worked on in real worktrees."""

    def place(self, claimed: Any) -> Worktree:
        placed = line_worktrees.place(self.desk.machine, claimed, self.detail, str(self.desk.project))
        assert placed is not None
        return placed

    def work(self, outcome: str = "success", **files: str) -> Any:
        """A line that writes files: `a` is `a.txt`."""
        claimed = self.claim()
        worktree = self.place(claimed)
        for name, text in files.items():
            (Path(worktree.path) / f"{name}.txt").write_text(text)
        shop = self.desk.shop
        finished = shop.finish(worktree, f"line {claimed.run_line}")
        failure = {} if outcome == "success" else {"failure": "permanent", "reason": "it broke"}
        return self.finish(
            claimed,
            outcome,
            worktree=worktree.path,
            git_branch=worktree.branch,
            git_base=worktree.base,
            git_head=finished.head,
            changes={"files": finished.changes.files, "insertions": 1, "deletions": 0},
            **failure,
        )

    def branches(self) -> Any:
        return self.desk.call("run.branches", run_id=self.id)


def parallel(desk: Desk, *file: dict[str, Any], **params: Any) -> Lines:
    return Lines(desk, file, mode="parallel", **params)


def files_in(worktree: Worktree) -> dict[str, str]:
    return {path.stem: path.read_text() for path in Path(worktree.path).glob("*.txt")}


def test_the_lines_of_a_sequential_run_share_its_worktree(desk: Desk) -> None:
    run = Lines(desk, [line("1"), line("2")])
    first = run.work(b="1\n")
    worktree = run.place(run.claim())
    assert first.git_branch == worktree.branch == f"ramet/r{run.id}"
    assert worktree.base == first.git_head
    assert files_in(worktree) == {"a": "one\n", "b": "1\n"}


def test_a_run_of_another_database_has_another_worktree(desk: Desk) -> None:
    run = Lines(desk, [line("1")])
    claimed = run.claim()
    first = run.place(claimed)
    other = replace(run.detail, created_at=claimed.created_at.replace(year=2001))
    second = line_worktrees.place(desk.machine, claimed, other, str(desk.project))
    assert second is not None
    assert [first.branch, second.branch] == [f"ramet/r{run.id}", f"ramet/r{run.id}-2"]


def test_a_sequential_line_goes_on_from_where_the_last_one_ended_though_its_worktree_is_gone(desk: Desk) -> None:
    run = Lines(desk, [line("1"), line("2"), line("3")])
    first = run.work(b="1\n")
    run.run("error", failure="permanent", reason="it never began")
    desk.shop.run(desk.project, "worktree", "remove", "--force", first.worktree)
    desk.shop.run(desk.project, "branch", "-D", first.git_branch)
    assert run.place(run.claim()).base == first.git_head


def test_a_parallel_line_has_its_own_worktree_and_starts_from_what_it_depends_on(desk: Desk) -> None:
    run = parallel(desk, line("1"), line("2"), line("3", depends_on=["1"]))
    one, two = run.work(b="1\n"), run.work(c="2\n")
    worktree = run.place(run.claim())
    assert [one.git_branch, two.git_branch, worktree.branch] == ["ramet/e1", "ramet/e2", "ramet/e3"]
    assert worktree.base == one.git_head
    assert files_in(worktree) == {"a": "one\n", "b": "1\n"}


def test_a_line_with_several_dependencies_starts_from_their_merge(desk: Desk) -> None:
    needs = line("4", depends_on=["1", "2", "3"])
    run = parallel(desk, line("1"), line("2"), line("3"), needs, keep_going=True)
    run.work(b="1\n")
    run.work("error", c="half of it\n")
    run.work(d="3\n")
    worktree = run.place(run.claim())
    assert files_in(worktree) == {"a": "one\n", "b": "1\n", "c": "half of it\n", "d": "3\n"}
    log = desk.shop.run(desk.project, "log", "--first-parent", "--format=%s", worktree.branch).splitlines()
    assert log[:2] == ["Merge line 1 (ramet/e1)", "Merge line 2 (ramet/e2)"]


def test_a_dependency_that_started_from_another_one_needs_no_merge(desk: Desk) -> None:
    run = parallel(desk, line("1"), line("2", depends_on=["1"]), line("3", depends_on=["1", "2"]))
    run.work(b="1\n")
    second = run.work(c="2\n")
    assert run.place(run.claim()).base == second.git_head


def test_a_merge_conflict_names_the_lines_and_the_files(desk: Desk) -> None:
    run = parallel(desk, line("1"), line("2"), line("3"), line("4", depends_on=["1", "2", "3"]))
    run.work(a="1\n")
    run.work(b="2\n")
    run.work(a="3\n")
    claimed = run.claim()
    with pytest.raises(MergeConflict) as conflict:
        run.place(claimed)
    assert conflict.value.message == ("line 1 (ramet/e1) cannot be merged with line 3 (ramet/e3): conflicts in a.txt")
    assert "ramet/e4" not in desk.shop.branches()


def test_a_conflict_that_a_person_settled_on_a_branch_is_settled(desk: Desk) -> None:
    run = parallel(desk, line("1"), line("2"), line("3", depends_on=["1", "2"]))
    run.work(a="1\n")
    two = run.work(a="2\n")
    claimed = run.claim()
    with pytest.raises(MergeConflict):
        run.place(claimed)
    desk.shop.run(two.worktree, "merge", "-q", "ramet/e1", check=False)
    (Path(two.worktree) / "a.txt").write_text("both\n")
    desk.shop.commit(two.worktree, "settle it")
    assert files_in(run.place(claimed)) == {"a": "both\n"}


def test_what_depends_on_a_line_that_left_no_branch_cannot_start(desk: Desk) -> None:
    run = parallel(desk, line("1"), line("2", depends_on=["1"]), line("3", depends_on=["2"]), keep_going=True)
    run.run("error", failure="permanent", reason="it never began")
    claimed = run.claim()
    with pytest.raises(NoStart, match="line 1 ended with error and left no branch"):
        run.place(claimed)
    run.finish(claimed, "dropped")
    with pytest.raises(NoStart, match="line 2 ended with dropped"):
        run.place(run.claim())


def test_what_was_done_before_the_run_is_in_the_project_already(desk: Desk) -> None:
    run = parallel(desk, line("1", is_done=True), line("2", depends_on=["1"]))
    assert run.place(run.claim()).base == desk.shop.run(desk.project, "rev-parse", "HEAD")


def test_outside_of_a_repository_there_is_no_worktree_and_nothing_is_missing(desk: Desk, tmp_path: Path) -> None:
    run = parallel(desk, line("1"), line("2", depends_on=["1"]), keep_going=True)
    run.run("error", failure="permanent", reason="it broke")
    elsewhere = tmp_path / "no repository"
    elsewhere.mkdir()
    assert line_worktrees.place(desk.machine, run.claim(), run.detail, str(elsewhere)) is None


def test_the_worktree_of_a_run_is_kept_until_its_last_line_has_ended(desk: Desk) -> None:
    run = Lines(desk, [line("1"), line("2")])
    path = run.work(b="1\n").worktree
    (row,) = desk.call("worktree.list").items
    assert (row.path, row.state, row.effort_id) == (path, "idle", 2)
    (kept,) = desk.call("worktree.clean").items
    assert (kept.removed, kept.reason) == (False, "e2 is queued")
    run.work(c="2\n")
    (cleaned,) = desk.call("worktree.clean").items
    assert cleaned.removed
    assert not Path(path).exists()


def test_the_branches_of_a_run_are_listed_with_what_conflicts(desk: Desk) -> None:
    run = parallel(desk, line("1"), line("2"), line("3"), line("4"))
    one, two = run.work(a="1\n"), run.work(a="2\n", b="2\n")
    run.work(c="3\n")
    found = run.branches()
    assert [(each.line, each.branch, each.files, each.is_merged) for each in found.branches] == [
        ("1", "ramet/e1", ["a.txt"], False),
        ("2", "ramet/e2", ["a.txt", "b.txt"], False),
        ("3", "ramet/e3", ["c.txt"], False),
    ]
    assert [(each.base, each.head) for each in found.branches[:2]] == [
        (one.git_base, one.git_head),
        (two.git_base, two.git_head),
    ]
    (conflict,) = found.conflicts
    assert (conflict.lines, conflict.branches) == (["1", "2"], ["ramet/e1", "ramet/e2"])
    assert conflict.files == ["a.txt"]
    desk.shop.run(desk.project, "merge", "-q", "--no-edit", "ramet/e1")
    merged = run.branches()
    assert [each.is_merged for each in merged.branches] == [True, False, False]
    assert merged.conflicts == []


def test_a_branch_that_began_from_others_has_their_work(desk: Desk) -> None:
    run = parallel(desk, line("1"), line("2"), line("3", depends_on=["1", "2"]), line("4"))
    for number in ("1", "2", "3", "4"):
        run.work(**{f"f{number}": "x\n"})
    by_line = {each.line: each.contained_in for each in run.branches().branches}
    assert by_line == {"1": "ramet/e3", "2": "ramet/e3", "3": None, "4": None}


ELSEWHERE = "b" * 40
"""A commit that is in another host's clone."""


def finish_elsewhere(run: Lines) -> Any:
    """A line whose branch `south` has."""
    changes = {"files": ["b.txt"], "insertions": 1, "deletions": 0}
    where = {"git_branch": "ramet/e2", "git_base": "a" * 40, "git_head": ELSEWHERE, "git_host": "south"}
    return run.finish(run.claim(), changes=changes, **where)


@pytest.mark.requirement("R471")
def test_a_branch_that_only_another_host_has_is_shown_with_it_and_not_offered_to_be_merged(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    run = parallel(desk, line("1"), line("2"))
    run.work(a="1\n")
    finish_elsewhere(run)
    found = run.branches()
    assert [(each.branch, each.is_here, each.host) for each in found.branches] == [
        ("ramet/e1", True, None),
        ("ramet/e2", False, "south"),
    ]
    print_ending(run.detail, found)
    said = capsys.readouterr().out.splitlines()
    assert "  ramet/e2 (on south): 1 file of task 2" in said
    assert [line for line in said if "git merge" in line] == ["  review and merge the branch: `git merge ramet/e1`"]
    fetch = "there `git push origin ramet/e2`, then here `git fetch origin ramet/e2:ramet/e2`"
    assert f"  fetch from south: {fetch}" in said


@pytest.mark.requirement("R471")
def test_a_line_that_needs_another_hosts_commit_fails_and_names_the_host(desk: Desk) -> None:
    run = parallel(desk, line("1"), line("2"), line("3", depends_on=["2"]))
    run.work(a="1\n")
    finish_elsewhere(run)
    shared = Machine(
        desk.machine.ask,
        replace(desk.machine.settings, database=DatabaseSettings(type="postgres", url="postgres://shared")),
        desk.machine.places,
        {},
    )
    with pytest.raises(WorktreeRefused, match=f"the commit {ELSEWHERE} is not in") as refusal:
        line_worktrees.place(shared, run.claim(), run.detail, str(desk.project))
    assert refusal.value.fix.startswith("it was made on south: push ramet/e2 there and fetch it here")


def test_a_sequential_run_has_one_branch_and_no_conflict(desk: Desk) -> None:
    run = Lines(desk, [line("1"), line("2")])
    assert run.branches().branches == []
    run.work(a="1\n")
    run.work(a="2\n")
    found = run.branches()
    assert [(each.line, each.branch) for each in found.branches] == [("1", "ramet/r1"), ("2", "ramet/r1")]
    assert (found.conflicts, found.note) == ([], None)


def test_an_older_git_lists_the_branches_and_says_what_it_cannot_tell(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = parallel(desk, line("1"), line("2"))
    run.work(a="1\n")
    run.work(a="2\n")
    monkeypatch.setattr("ramet.workspace.git.merges._FORETELL", ("merge-tree", "--unheard-of"))
    monkeypatch.setattr("ramet.workspace.git.merges._FORETELLS", (99, 0))
    found = run.branches()
    assert len(found.branches) == 2
    assert "cannot predict which branches conflict; install git 99.0 or newer" in (found.note or "")


def test_an_unknown_run_has_no_branches(desk: Desk) -> None:
    with pytest.raises(RunNotFound):
        desk.call("run.branches", run_id=4711)
