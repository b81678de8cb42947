"""The commit that new work starts at: where the caller is, and what only the caller's files have."""

from pathlib import Path

import pytest
from tests.workspace.repositories import Shop

from ramet.errors import InvalidParams, WorktreeError
from ramet.protocol.record.starting_points import StartAt, StartingPoint
from ramet.workspace.worktrees import starting_point

HOLDER = "0a1b2c3d"


def find(shop: Shop, directory: Path | None = None, **wanted: object) -> StartingPoint:
    start = StartAt(directory=str(directory or shop.project), **wanted)  # type: ignore[arg-type]
    found = starting_point.find(shop.git, str(shop.project), start, HOLDER)
    assert found is not None
    return found


def head(shop: Shop, directory: Path | None = None) -> str:
    return shop.run(directory or shop.project, "rev-parse", "HEAD")


def refs(shop: Shop) -> list[str]:
    said = shop.run(shop.project, "for-each-ref", "--format=%(objectname)", starting_point.REFS)
    return said.split()


@pytest.mark.requirement("R362")
def test_work_starts_at_the_head_of_the_callers_checkout(shop: Shop) -> None:
    shop.run(shop.project, "switch", "-q", "-c", "fix-cart")
    commit = shop.commit(shop.project, "not pushed")
    assert find(shop) == StartingPoint(commit=commit, branch="fix-cart")


@pytest.mark.requirement("R362")
def test_a_linked_worktree_of_the_user_counts_as_the_callers_checkout(shop: Shop) -> None:
    linked = shop.root / "linked"
    shop.run(shop.project, "worktree", "add", "-q", "-b", "other", str(linked))
    commit = shop.commit(linked, "only there")
    (linked / "b.txt").write_text("new\n")
    (linked / "sub").mkdir()
    found = find(shop, linked / "sub")
    assert (found.commit, found.branch, found.uncommitted) == (commit, "other", ["b.txt"])


@pytest.mark.requirement("R362")
def test_a_base_can_be_a_branch_a_tag_a_commit_or_relative_to_one(shop: Shop) -> None:
    first = head(shop)
    shop.run(shop.project, "tag", "v1")
    second = shop.commit(shop.project, "second")
    named = {"main": (second, "main"), "v1": (first, "v1"), "HEAD": (second, "main"), "HEAD~1": (first, None)}
    for name, expected in {**named, first: (first, None), first[:9]: (first, None)}.items():
        found = find(shop, base=name)
        assert (found.commit, found.branch) == expected


@pytest.mark.requirement("R362")
@pytest.mark.parametrize("name", ["nope", "--help", "-1", "a..b", "main@{upstream}", "main\n", "1" * 40, ":/x y", "^"])
def test_an_unknown_base_is_an_error_that_names_it_and_says_how_to_find_one(shop: Shop, name: str) -> None:
    with pytest.raises(InvalidParams, match="is no branch, tag or commit of") as refusal:
        find(shop, base=name)
    assert (refusal.value.field, refusal.value.value) == ("start.base", name)
    assert "branch --all" in refusal.value.fix
    assert refs(shop) == []


@pytest.mark.requirement("R362")
def test_a_base_in_another_repository_is_refused_and_without_one_the_project_counts(shop: Shop) -> None:
    other = shop.make_repository("other")
    theirs = shop.commit(other, "theirs")
    with pytest.raises(InvalidParams, match=f"is in the repository {other}, and the work is in {shop.project}"):
        find(shop, other, base=theirs)
    with pytest.raises(InvalidParams, match="is no branch, tag or commit"):
        find(shop, base=theirs)
    assert find(shop, other).commit == head(shop)


@pytest.mark.requirement("R362")
def test_a_detached_head_is_a_commit_without_a_branch(shop: Shop) -> None:
    shop.run(shop.project, "checkout", "-q", "--detach")
    commit = shop.commit(shop.project, "on no branch")
    assert find(shop) == StartingPoint(commit=commit)
    assert find(shop, base="HEAD") == StartingPoint(commit=commit)


@pytest.mark.requirement("R362")
def test_in_a_shallow_clone_work_starts_at_its_head_and_a_commit_that_it_lacks_is_unknown(shop: Shop) -> None:
    first = head(shop)
    shop.commit(shop.project, "second")
    shop.run(shop.root, "clone", "-q", "--depth", "1", f"file://{shop.project}", "shallow")
    shop.project = shop.root / "shallow"
    found = find(shop)
    assert found.commit == head(shop)
    with pytest.raises(InvalidParams):
        find(shop, base=first)
    assert Path(shop.prepare("e1", start=found.commit).path, "a.txt").read_text() == "one\n"


@pytest.mark.requirement("R362")
def test_a_submodule_is_a_repository_of_its_own_and_is_empty_in_a_worktree_of_the_one_around_it(shop: Shop) -> None:
    library = shop.make_repository("library")
    around = shop.project
    shop.run(around, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "lib")
    shop.commit(around, "a submodule")
    found = find(shop)
    assert found.commit == head(shop)
    worktree = shop.prepare("e1", start=found.commit)
    assert list(Path(worktree.path, "lib").iterdir()) == []
    inside = around / "lib"
    with pytest.raises(InvalidParams, match="is in the repository"):
        find(shop, inside, base="HEAD")
    shop.project = inside
    own = find(shop, inside)
    assert own.commit == head(shop, inside)
    assert Path(shop.prepare("e2", start=own.commit).path, "a.txt").read_text() == "one\n"


@pytest.mark.requirement("R362")
def test_a_repository_without_commits_has_no_base_and_says_how_to_make_one(shop: Shop) -> None:
    shop.project = shop.root / "fresh"
    shop.project.mkdir()
    shop.run(shop.project, "init", "-q")
    with pytest.raises(WorktreeError, match="no commit") as refusal:
        find(shop)
    assert "commit --allow-empty" in refusal.value.fix


@pytest.mark.requirement("R362")
def test_an_orphan_branch_without_commits_says_so(shop: Shop) -> None:
    linked = shop.root / "linked"
    shop.run(shop.project, "worktree", "add", "-q", "--detach", str(linked))
    shop.run(linked, "switch", "-q", "--orphan", "empty")
    with pytest.raises(WorktreeError, match="is on a branch without commits"):
        find(shop, linked)


@pytest.mark.requirement("R362")
def test_outside_of_git_there_is_no_base_and_naming_one_is_an_error(shop: Shop) -> None:
    shop.project = shop.root / "plain"
    shop.project.mkdir()
    assert starting_point.find(shop.git, str(shop.project), StartAt(), HOLDER) is None
    with pytest.raises(InvalidParams, match="is in no git repository"):
        find(shop, base="main")


@pytest.mark.requirement("R362")
def test_uncommitted_changes_are_named_but_not_ignored_files_or_reports(shop: Shop) -> None:
    (shop.project / ".gitignore").write_text("*.log\n")
    shop.commit(shop.project, "ignore logs")
    (shop.project / "a.txt").write_text("two\n")
    (shop.project / "new file.txt").write_text("new\n")
    (shop.project / "x.log").write_text("noise\n")
    (shop.project / ".ramet").mkdir()
    (shop.project / ".ramet" / "1_PLAN.md").write_text("a report\n")
    assert find(shop).uncommitted == ["a.txt", "new file.txt"]


@pytest.mark.requirement("R362")
def test_changes_are_taken_along_as_a_marked_commit_that_touches_nothing_of_the_users(shop: Shop) -> None:
    (shop.project / ".gitignore").write_text("*.log\n")
    below = shop.commit(shop.project, "ignore logs")
    (shop.project / "a.txt").write_text("staged\n")
    shop.run(shop.project, "add", "a.txt")
    (shop.project / "a.txt").write_text("newest\n")
    (shop.project / "untracked.txt").write_text("new\n")
    (shop.project / "x.log").write_text("noise\n")
    before = shop.run(shop.project, "status", "--porcelain"), shop.run(shop.project, "diff", "--cached")
    found = find(shop, with_changes=True)
    assert found.changes is not None
    assert (found.commit, found.branch, found.uncommitted) == (below, "main", [])
    assert shop.show(f"{found.changes}:a.txt") == "newest"
    assert shop.show(f"{found.changes}:untracked.txt") == "new"
    assert shop.run(shop.project, "ls-tree", "--name-only", found.changes, "x.log") == ""
    trailer = f"%P %(trailers:key={starting_point.TRAILER},valueonly)"
    assert shop.run(shop.project, "show", "-s", f"--format={trailer}", found.changes) == f"{below} {below}"
    assert (shop.run(shop.project, "status", "--porcelain"), shop.run(shop.project, "diff", "--cached")) == before
    assert shop.run(shop.project, "stash", "list") == ""
    assert head(shop) == below


@pytest.mark.requirement("R362")
def test_without_changes_there_is_nothing_to_take_along(shop: Shop) -> None:
    found = find(shop, with_changes=True)
    assert (found.changes, found.note) == (None, f"{shop.project} has no uncommitted changes")


@pytest.mark.requirement("R362")
def test_changes_are_not_taken_along_to_another_base(shop: Shop) -> None:
    (shop.project / "a.txt").write_text("two\n")
    shop.run(shop.project, "branch", "same")
    assert find(shop, with_changes=True, base="same").changes is not None
    shop.run(shop.project, "commit", "-q", "--allow-empty", "-m", "second")
    with pytest.raises(InvalidParams, match="not on same"):
        find(shop, with_changes=True, base="same")


@pytest.mark.requirement("R362")
def test_changes_in_the_middle_of_a_conflict_are_not_taken_along(shop: Shop) -> None:
    for branch in ("left", "right"):
        shop.run(shop.project, "switch", "-q", "-c", branch, "main")
        (shop.project / "a.txt").write_text(branch)
        shop.commit(shop.project, branch)
    shop.run(shop.project, "merge", "left", check=False)
    with pytest.raises(WorktreeError, match="has conflicts that are not resolved"):
        find(shop, with_changes=True)


@pytest.mark.requirement("R362")
def test_a_nested_repository_is_not_taken_along_and_is_named(shop: Shop) -> None:
    shop.make_repository("shop/nested")
    (shop.project / "a.txt").write_text("two\n")
    found = find(shop, with_changes=True)
    assert found.note == "not taken along, because it is a repository of its own: nested/"
    assert shop.run(shop.project, "ls-tree", "--name-only", f"{found.changes}", "nested") == ""


@pytest.mark.requirement("R362")
def test_a_base_outlives_its_branch_and_is_forgotten_when_no_work_needs_it(shop: Shop) -> None:
    shop.run(shop.project, "switch", "-q", "-c", "short-lived")
    commit = shop.commit(shop.project, "soon gone")
    assert find(shop).commit == commit
    shop.run(shop.project, "switch", "-q", "main")
    shop.run(shop.project, "branch", "-q", "-D", "short-lived")
    shop.run(shop.project, "reflog", "expire", "--expire=now", "--all")
    shop.run(shop.project, "gc", "-q", "--prune=now")
    assert shop.prepare("e1", start=commit).base == commit
    starting_point.tidy(shop.git, shop.project, "another", set())
    starting_point.tidy(shop.git, shop.project, HOLDER, {commit})
    assert refs(shop) == [commit]
    starting_point.tidy(shop.git, shop.project, HOLDER, set())
    assert refs(shop) == []
