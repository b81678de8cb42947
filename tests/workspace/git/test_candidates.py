"""Candidates: commits on top of a target, made without a worktree."""

from pathlib import Path

import pytest
from tests.workspace.repositories import Shop

from ramet.errors import WorktreeError
from ramet.workspace.git import candidates
from ramet.workspace.git.candidates import Candidate, Conflict, Work


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """main has one commit more than the branch `work` started from; `work` has two."""
    shop = Shop(tmp_path)
    run, project = shop.run, shop.project
    run(project, "checkout", "-q", "-b", "work")
    for name in ("one", "two"):
        (project / f"{name}.txt").write_text(f"{name}\n")
        shop.commit(project, name)
    run(project, "checkout", "-q", "main")
    (project / "main.txt").write_text("main\n")
    shop.commit(project, "main")
    return shop


def built(shop: Shop, method: str, head: str = "work", left_out: tuple[str, ...] = ()) -> str | Conflict:
    commit, tip = (shop.run(shop.project, "rev-parse", name) for name in (head, "main"))
    work = Work(commit, left_out, "Land it\n")
    found = candidates.build(shop.git, shop.project, tip, work, method)  # type: ignore[arg-type]
    return found if isinstance(found, Conflict) else found.commit


def files(shop: Shop, commit: object) -> list[str]:
    return shop.run(shop.project, "ls-tree", "--name-only", str(commit)).split()


def log(shop: Shop, commit: object) -> list[str]:
    return shop.run(shop.project, "log", "--format=%s", "--first-parent", f"main..{commit}").splitlines()


@pytest.mark.requirement("R401")
@pytest.mark.parametrize(
    ("method", "subjects"), [("merge", ["Land it"]), ("squash", ["Land it"]), ("rebase", ["two", "one"])]
)
def test_each_method_has_all_changes_and_touches_no_checkout(shop: Shop, method: str, subjects: list[str]) -> None:
    before = shop.run(shop.project, "status", "--porcelain"), shop.branches()
    commit = built(shop, method)
    assert files(shop, commit) == ["a.txt", "main.txt", "one.txt", "two.txt"]
    assert log(shop, commit) == subjects
    assert (shop.run(shop.project, "status", "--porcelain"), shop.branches()) == before
    shop.run(shop.project, "fsck", "--strict", str(commit))


@pytest.mark.requirement("R401")
def test_a_rebased_commit_keeps_its_author_and_loses_its_signature(shop: Shop) -> None:
    run, project = shop.run, shop.project
    signature = "\ngpgsig -----BEGIN\n x\n -----END\n\n"
    raw = run(project, "cat-file", "commit", "work").replace("\n\n", signature, 1)
    signed = Path(shop.root / "commit")
    signed.write_text(raw.replace("Ann", "Björn") + "\n")
    head = run(project, "hash-object", "-t", "commit", "-w", "--literally", str(signed))
    commit = built(shop, "rebase", head)
    content = run(project, "cat-file", "commit", str(commit))
    assert "author Björn" in content
    assert "gpgsig" not in content


@pytest.mark.requirement("R404")
@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
def test_a_conflict_names_its_files_and_makes_nothing(shop: Shop, method: str) -> None:
    (shop.project / "one.txt").write_text("another\n")
    shop.commit(shop.project, "in the way")
    assert built(shop, method) == Conflict(["one.txt"])


@pytest.mark.requirement("R401")
@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
def test_a_marked_commit_of_uncommitted_changes_is_left_out(shop: Shop, method: str) -> None:
    marked = shop.run(shop.project, "rev-parse", "work~1")
    commit = built(shop, method, left_out=(marked,))
    assert files(shop, commit) == ["a.txt", "main.txt", "two.txt"]
    assert "one" not in shop.run(shop.project, "log", "--format=%s", f"main..{commit}").split()


@pytest.mark.requirement("R401")
def test_a_branch_that_the_target_has_makes_no_commit(shop: Shop) -> None:
    assert built(shop, "merge", "main~1") == shop.run(shop.project, "rev-parse", "main")


@pytest.mark.requirement("R406")
def test_a_revert_takes_back_a_landing_of_several_commits_and_nothing_else(shop: Shop) -> None:
    before = shop.run(shop.project, "rev-parse", "main")
    landed = str(built(shop, "rebase"))
    shop.run(shop.project, "reset", "-q", "--hard", landed)
    (shop.project / "later.txt").write_text("later\n")
    tip = shop.commit(shop.project, "later")
    found = candidates.revert(shop.git, shop.project, tip, landed, before, "Revert\n")
    assert isinstance(found, Candidate)
    assert files(shop, found.commit) == ["a.txt", "later.txt", "main.txt"]


@pytest.mark.requirement("R401")
def test_a_merge_is_not_replayed(shop: Shop) -> None:
    shop.run(shop.project, "checkout", "-q", "work")
    shop.run(shop.project, "merge", "-q", "--no-edit", "main")
    shop.run(shop.project, "checkout", "-q", "main")
    (shop.project / "more.txt").write_text("more\n")
    shop.commit(shop.project, "more")
    with pytest.raises(WorktreeError, match="is a merge, which cannot be replayed"):
        built(shop, "rebase")
