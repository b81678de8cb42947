"""Branches and checks that a lander does not expect: each landing ends, and nothing of the user's goes."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.runner.desk import Desk
from tests.runner.landing.harbour import Harbour

from ramet.cli.commands.landing.landing_lines import outcome, wait_for
from ramet.errors import LandingRefused, WorktreeError
from ramet.runner.landing import plans
from ramet.workspace.git import target_moves
from ramet.workspace.git.command import Git
from ramet.workspace.worktrees import scratch


@pytest.fixture
def harbour(desk: Desk) -> Harbour:
    return Harbour(desk)


@pytest.mark.requirement("R406")
def test_a_file_that_git_ignores_is_kept(harbour: Harbour) -> None:
    effort = harbour.work({".env": "theirs\n"})
    (harbour.project / ".git/info/exclude").write_text(".env\n")
    (harbour.project / ".env").write_text("mine\n")
    harbour.add(effort)
    before = harbour.tip
    row = harbour.land_next()
    assert (harbour.project / ".env").read_text() == "mine\n"
    assert (row.state, harbour.tip) == ("stopped", before)
    assert ".env" in row.reason


@pytest.mark.requirement("R406")
def test_ignored_files_are_kept_also_where_an_undoing_writes(harbour: Harbour) -> None:
    (harbour.project / "cache").write_text("tracked\n")
    harbour.shop.commit(harbour.project, "cache")
    effort = harbour.work({"one.txt": "1\n"})
    worktree = Path(effort.worktree)
    (worktree / "cache").unlink()
    head = harbour.shop.commit(worktree, "without the cache")
    harbour.desk.world.sql("UPDATE efforts SET git_head = :head WHERE id = :id", head=head, id=effort.id)
    harbour.add(effort)
    landed = harbour.land_next()
    (harbour.project / ".git/info/exclude").write_text("cache\n")
    (harbour.project / "cache").mkdir()
    (harbour.project / "cache/mine").write_text("mine\n")
    stopped = harbour.undo(landed)
    assert (stopped.state, "cache/mine" in stopped.reason) == ("stopped", True)
    assert (harbour.project / "cache/mine").read_text() == "mine\n"


@pytest.mark.requirement("R362")
def test_what_is_asked_for_again_leaves_out_what_was_not_asked_for(harbour: Harbour) -> None:
    (harbour.project / "mine.txt").write_text("mine\n")
    marked = harbour.shop.commit(harbour.project, "Uncommitted changes")
    effort = harbour.work({"one.txt": "1\n"})
    harbour.shop.run(harbour.project, "reset", "-q", "--hard", "HEAD~1")
    harbour.desk.world.sql("UPDATE efforts SET base_changes = :commit WHERE id = :id", commit=marked, id=effort.id)
    harbour.add(effort, include_changes=True, checks=["false"])
    assert harbour.land_next().state == "failed"
    harbour.add(effort, checks=["true"])
    assert harbour.land_next().state == "landed"
    assert harbour.shop.run(harbour.project, "ls-tree", "--name-only", "main").split() == ["a.txt", "one.txt"]


@pytest.mark.requirement("R402")
def test_what_a_check_prints_cannot_keep_the_landing_from_ending(harbour: Harbour) -> None:
    harbour.add(harbour.work({"one.txt": "1\n"}), checks=["printf 'a\\0b'; exit 1"])
    failed = harbour.land_next()
    assert failed.state == "failed"


def _fail(*_: object) -> None:
    raise FileNotFoundError("/no/such/file")


@pytest.mark.requirement("R402")
def test_whatever_goes_wrong_a_landing_ends_and_the_next_one_lands(
    harbour: Harbour, monkeypatch: pytest.MonkeyPatch
) -> None:
    harbour.add(harbour.work({"one.txt": "1\n"}), harbour.work({"two.txt": "2\n"}), checks=["true"])
    with monkeypatch.context() as patch:
        patch.setattr(target_moves, "require_free", _fail)
        stopped = harbour.land_next()
    assert (stopped.state, "FileNotFoundError" in stopped.reason) == ("stopped", True)
    assert harbour.land_next().state == "landed"


@pytest.mark.requirement("R407")
def test_an_undone_branch_exists_again(harbour: Harbour) -> None:
    effort = harbour.work({"one.txt": "1\n"})
    harbour.add(effort)
    landed = harbour.land_next()
    assert harbour.shop.branches() == ["main"]
    assert harbour.undo(landed).state == "landed"
    assert harbour.shop.run(harbour.project, "for-each-ref", f"--contains={effort.git_head}") != ""


@pytest.mark.requirement("R401")
def test_a_project_folder_that_a_branch_made_a_link_is_not_entered(tmp_path: Path) -> None:
    top, outside = tmp_path / "top", tmp_path / "outside"
    (top / "parts").mkdir(parents=True)
    outside.mkdir()
    (top / "parts/shop").symlink_to(outside)
    (top / "file").touch()
    assert scratch.enter(top, "parts/cart/new") == top / "parts/cart/new"
    for prefix in ("parts/shop", "parts/shop/deeper", "file"):
        with pytest.raises(WorktreeError, match="is not a folder"):
            scratch.enter(top, prefix)
    assert not list(outside.iterdir())


@pytest.mark.requirement("R404")
def test_nobody_waits_for_what_needs_a_landing_that_needs_one_that_failed(harbour: Harbour) -> None:
    first = harbour.work({"bad.txt": "1\n"})
    second = harbour.work({"two.txt": "2\n"}, based_on=first.id)
    third = harbour.work({"three.txt": "3\n"}, based_on=second.id)
    rows = harbour.add(first, second, third, checks=["test ! -e bad.txt"])
    harbour.land_all()
    asked = SimpleNamespace(as_json=True, ask=harbour.desk.ask)
    assert [row.state for row in wait_for(cast("Any", asked), rows)] == ["failed", "queued", "queued"]


@pytest.mark.requirement("R401")
def test_branches_that_need_each_other_are_refused() -> None:
    first = plans._Unit([_row(1), _row(3)], "a" * 40, [2])
    with pytest.raises(LandingRefused, match="need each other"):
        plans._order([first, plans._Unit([_row(2)], "b" * 40, [1])])


def _row(number: int) -> Any:
    return SimpleNamespace(id=number)


@pytest.mark.requirement("R402")
def test_the_commit_of_an_attempt_that_moved_nothing_is_not_shown_as_the_targets(harbour: Harbour) -> None:
    harbour.add(harbour.work({"one.txt": "1\n"}))
    claimed = harbour.desk.world.call("landing.claim", lander="north").landing
    held = {"landing_id": claimed.id, "generation": claimed.lease_generation}
    harbour.desk.world.call("landing.note_tested", **held, tip=harbour.tip, tested="b" * 40)
    landed = harbour.desk.world.call("landing.finish", **held, outcome="landed", reason="main has all of it already")
    assert outcome(landed).endswith("landed: main has all of it already")


@pytest.mark.requirement("R406")
def test_a_commit_that_is_made_while_the_target_moves_back_stays(
    harbour: Harbour, monkeypatch: pytest.MonkeyPatch
) -> None:
    harbour.add(harbour.work({"one.txt": "1\n"}))
    landed = harbour.land_next()
    run, made = Git.run, list[str]()

    def commit_first(git: Git, directory: Any, *arguments: str, **options: Any) -> str:
        if arguments[0] == "reset" and not made:
            (harbour.project / "mine.txt").write_text("mine\n")
            made.append(harbour.shop.commit(harbour.project, "mine"))
        return run(git, directory, *arguments, **options)

    monkeypatch.setattr(Git, "run", commit_first)
    assert harbour.undo(landed).state == "landed"
    assert harbour.shop.run(harbour.project, "rev-parse", "main~1") == made[0]
    assert not (harbour.project / "one.txt").exists()
