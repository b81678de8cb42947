"""What is left when an agent ends: it is committed on the branch, counted by git, and never lost."""

import os
import shutil
from pathlib import Path

import pytest
from tests.workspace.repositories import Shop

from ramet.errors import WorktreeError
from ramet.workspace.worktrees import repair
from ramet.workspace.worktrees import worktree as worktrees


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repair, "_LOCK_SECONDS", 0.1)


@pytest.mark.requirement("R303")
def test_what_was_left_uncommitted_is_committed_and_counted(shop: Shop) -> None:
    worktree = shop.prepare()
    path = Path(worktree.path)
    (path / "b.txt").write_text("1\n2\n")
    shop.commit(path, "by the agent")
    (path / "a.txt").unlink()
    (path / "logo.png").write_bytes(b"\x89PNG\0\xff" * 50)
    (path / "c.txt").write_text("3\n")
    finished = shop.finish(worktree, "what was left\n\nRamet-Effort: e1\n")
    assert finished.head == shop.run(path, "rev-parse", "HEAD") == shop.run(shop.project, "rev-parse", "ramet/e1")
    assert finished.changes.files == ["a.txt", "b.txt", "c.txt", "logo.png"]
    assert (finished.changes.insertions, finished.changes.deletions, finished.note) == (3, 1, None)
    assert shop.run(path, "status", "--porcelain") == ""
    said = shop.run(path, "log", "-2", "--format=%an <%ae>|%s|%(trailers:key=Ramet-Effort,valueonly)")
    assert said.split("\n")[0] == "Ramet <ramet@localhost>|what was left|e1"
    assert "Ann <ann@example.org>|by the agent" in said


@pytest.mark.requirement("R303")
def test_a_change_in_the_second_of_the_checkout_is_not_missed(shop: Shop) -> None:
    """Of the same length and time as what git has seen: only the time of its index says that it may have changed."""
    shop.run(shop.project, "config", "core.trustctime", "false")
    worktree = shop.prepare()
    file = Path(worktree.path) / "a.txt"
    index = worktree.path / Path(shop.run(worktree.path, "rev-parse", "--git-path", "index"))
    then = file.stat().st_mtime - 60
    os.utime(file, (then, then))
    shop.run(worktree.path, "update-index", "--refresh")
    file.write_text("two\n")
    for path in (file, index):
        os.utime(path, (then, then))
    assert shop.finish(worktree).changes.files == ["a.txt"]


@pytest.mark.requirement("R303")
def test_where_nothing_was_changed_git_says_so_and_nothing_is_committed(shop: Shop) -> None:
    worktree = shop.prepare()
    finished = shop.finish(worktree)
    assert (finished.head, finished.changes.files, finished.note) == (worktree.base, [], None)
    assert shop.finish(worktree) == finished


@pytest.mark.requirement("R302")
def test_a_second_time_changes_nothing(shop: Shop) -> None:
    worktree = shop.prepare()
    (Path(worktree.path) / "b.txt").write_text("b\n")
    assert shop.finish(worktree) == shop.finish(worktree)


def test_reports_are_not_committed_even_where_an_agent_insisted(shop: Shop) -> None:
    worktree = shop.prepare()
    report = Path(worktree.path, ".ramet", "e1", "1_PLAN.md")
    report.parent.mkdir()
    report.write_text("a plan")
    shop.run(worktree.path, "add", "-f", ".ramet")
    (Path(worktree.path) / "b.txt").write_text("b\n")
    assert shop.finish(worktree).changes.files == ["b.txt"]
    assert report.read_text() == "a plan"


def test_what_git_ignores_is_not_committed(shop: Shop) -> None:
    (shop.project / ".gitignore").write_text("*.log\n")
    shop.commit(shop.project, "ignore logs")
    worktree = shop.prepare()
    (Path(worktree.path) / "x.log").write_text("log")
    assert shop.finish(worktree).changes.files == []


NAMES = ["new\nline", '"quoted"', "-rf", "--", ":(exclude)a.txt", "*", "ta\tb", " space ", "ünï", "$(x)", "a\\b"]


def test_file_names_of_every_kind_are_committed_and_reported(shop: Shop) -> None:
    worktree = shop.prepare()
    for name in NAMES:
        (Path(worktree.path) / name).write_text("x\n")
    odd = os.fsencode(worktree.path) + b"/\xff\xfe"
    Path(os.fsdecode(odd)).write_text("x\n")
    finished = shop.finish(worktree)
    assert set(finished.changes.files) == {*NAMES, "\\xff\\xfe"}
    assert shop.run(worktree.path, "status", "--porcelain") == ""
    shop.run(worktree.path, "rm", "-q", "--", "-rf", "--")
    assert set(shop.finish(worktree).changes.files) == {*NAMES, "\\xff\\xfe"} - {"-rf", "--"}


@pytest.mark.parametrize("where", ["another branch", "no branch", "a renamed branch", "our branch deleted"])
def test_an_agent_that_went_its_own_way_from_our_branch_is_followed(shop: Shop, where: str) -> None:
    worktree = shop.prepare()
    path = Path(worktree.path)
    match where:
        case "another branch" | "our branch deleted":
            shop.run(path, "checkout", "-q", "-b", "feature")
        case "no branch":
            shop.run(path, "checkout", "-q", "--detach")
        case _:
            shop.run(path, "branch", "-m", "feature")
    if where == "our branch deleted":
        shop.run(path, "branch", "-D", "ramet/e1")
    (path / "b.txt").write_text("b\n")
    shop.commit(path, "elsewhere")
    (path / "c.txt").write_text("c\n")
    finished = shop.finish(worktree)
    assert (finished.changes.files, finished.note) == (["b.txt", "c.txt"], None)
    assert shop.run(path, "symbolic-ref", "--short", "HEAD") == "ramet/e1"
    assert shop.show("ramet/e1:c.txt") == "c"
    assert shop.run(path, "status", "--porcelain") == ""


@pytest.mark.requirement("R302")
def test_work_on_a_line_that_did_not_come_from_ours_is_kept_and_said(shop: Shop) -> None:
    worktree = shop.prepare()
    path = Path(worktree.path)
    (path / "a.txt").write_text("ours\n")
    head = shop.commit(path, "on our branch")
    shop.run(path, "checkout", "-q", "--detach", "main")
    (path / "b.txt").write_text("b\n")
    shop.commit(path, "beside it")
    (path / "c.txt").write_text("c\n")
    finished = shop.finish(worktree)
    assert (finished.head, finished.changes.files) == (head, ["a.txt"])
    [ref] = shop.kept()
    assert finished.note is not None
    assert ref in finished.note
    assert (shop.show(f"{ref}:b.txt"), shop.show(f"{ref}:c.txt")) == ("b", "c")
    assert (path / "c.txt").read_text() == "c\n"


@pytest.mark.requirement("R185", "R302")
def test_the_next_attempt_finds_such_a_worktree_back_on_its_branch(shop: Shop) -> None:
    worktree = shop.prepare()
    path = Path(worktree.path)
    (path / "a.txt").write_text("ours\n")
    head = shop.commit(path, "on our branch")
    shop.run(path, "checkout", "-q", "--detach", "main")
    shop.commit(path, "beside it")
    (path / "c.txt").write_text("c\n")
    assert shop.prepare().base == head
    assert shop.run(path, "symbolic-ref", "--short", "HEAD") == "ramet/e1"
    assert (path / "c.txt").read_text() == "c\n"


@pytest.mark.requirement("R302")
@pytest.mark.parametrize("operation", ["merge", "rebase", "cherry-pick"])
def test_half_a_merge_is_left_as_it_is_and_kept(shop: Shop, operation: str) -> None:
    worktree = shop.prepare()
    path = Path(worktree.path)
    (path / "a.txt").write_text("ours\n")
    head = shop.commit(path, "ours")
    (shop.project / "a.txt").write_text("theirs\n")
    shop.commit(shop.project, "theirs")
    shop.run(path, operation, "main", check=False)
    (path / "b.txt").write_text("b\n")
    finished = shop.finish(worktree)
    assert finished.head == head
    [ref] = shop.kept()
    assert finished.note is not None
    assert f"a {operation} was not finished" in finished.note
    assert shop.show(f"{ref}:b.txt") == "b"
    assert "<<<<<<<" in shop.show(f"{ref}:a.txt")
    assert "AA a.txt" in (status := shop.run(path, "status", "--porcelain")) or "UU a.txt" in status
    assert shop.finish(worktree) == finished, "the same is not kept twice"
    assert shop.prepare().path == worktree.path


@pytest.mark.requirement("R302")
def test_locks_that_a_killed_agent_left_are_no_obstacle_and_nothing_is_lost_with_them(shop: Shop) -> None:
    worktree = shop.prepare()
    path = Path(worktree.path)
    folder = Path(shop.run(path, "rev-parse", "--absolute-git-dir"))
    (folder / "index.lock").write_text("half an index")
    (folder / "HEAD.lock").touch()
    (shop.project / ".git" / "refs" / "heads" / "ramet" / "e1.lock").touch()
    (path / "b.txt").write_text("b\n")
    assert shop.finish(worktree).changes.files == ["b.txt"]
    assert (folder / "index.lock.left").read_text() == "half an index"
    shop.commit(path, "git works again")


@pytest.mark.requirement("R302")
def test_what_was_staged_and_then_changed_is_kept_beside_the_commit(shop: Shop) -> None:
    worktree = shop.prepare()
    path = Path(worktree.path)
    (path / "b.txt").write_text("staged\n")
    shop.run(path, "add", "b.txt")
    (path / "b.txt").write_text("changed after that\n")
    shop.finish(worktree)
    assert shop.show("ramet/e1:b.txt") == "changed after that"
    [ref] = shop.kept()
    assert shop.show(f"{ref}^2:b.txt") == "staged"


@pytest.mark.requirement("R302")
def test_what_cannot_be_committed_stays_where_it_is_and_the_facts_are_told(shop: Shop) -> None:
    worktree = shop.prepare()
    path = Path(worktree.path)
    (path / "b.txt").write_text("b\n")
    head = shop.commit(path, "b")
    (path / "c.txt").write_text("c\n")
    shop.allow("bad")
    shop.run(shop.project, "config", "--global", "filter.bad.clean", "false")
    shop.run(shop.project, "config", "--global", "filter.bad.required", "true")
    (path / ".gitattributes").write_text("c.txt filter=bad\n")
    finished = shop.finish(worktree)
    assert (finished.head, finished.changes.files) == (head, ["b.txt"])
    assert finished.note is not None
    assert "are still in" in finished.note
    assert (path / "c.txt").read_text() == "c\n"


def test_a_repository_inside_the_worktree_is_named_and_left_alone(shop: Shop) -> None:
    worktree = shop.prepare()
    path = Path(worktree.path)
    (path / "inner").mkdir()
    shop.run(path / "inner", "init", "-q")
    (path / "b.txt").write_text("b\n")
    finished = shop.finish(worktree)
    assert finished.changes.files == ["b.txt"]
    assert finished.note is not None
    assert "inner/" in finished.note


def test_the_commits_of_a_worktree_that_was_deleted_by_hand_still_count(shop: Shop) -> None:
    worktree = shop.prepare()
    (Path(worktree.path) / "b.txt").write_text("b\n")
    head = shop.commit(worktree.path, "b")
    shutil.rmtree(worktree.path)
    finished = shop.finish(worktree)
    assert (finished.head, finished.changes.files) == (head, ["b.txt"])
    assert finished.note is not None
    assert "deleted" in finished.note


def test_a_branch_that_is_gone_with_its_worktree_is_an_error(shop: Shop) -> None:
    worktree = shop.prepare()
    shop.run(shop.project, "worktree", "remove", worktree.path)
    shop.run(shop.project, "branch", "-D", "ramet/e1")
    with pytest.raises(WorktreeError, match=r"ramet/e1 no longer exists"):
        shop.finish(worktree)


@pytest.mark.requirement("R184", "R302")
def test_a_path_that_is_not_our_worktree_is_not_committed_to(shop: Shop) -> None:
    mine = shop.root / "e9"
    shop.run(shop.project, "worktree", "add", "-q", "-b", "ramet/e9", str(mine))
    (mine / "precious").write_text("mine")
    (shop.project / "a.txt").write_text("mine\n")
    base = shop.run(shop.project, "rev-parse", "HEAD")
    for path, branch in ((str(mine), "ramet/e9"), (str(shop.project), "main"), (shop.prepare().path, "main")):
        with pytest.raises(WorktreeError, match="Ramet did not create"):
            worktrees.finish(shop.git, str(shop.project), path, branch, base, "taken")
    assert shop.run(mine, "status", "--porcelain") == "?? precious"
    assert shop.run(shop.project, "rev-parse", "main", "ramet/e9").split() == [base, base]


def test_a_base_that_is_no_commit_is_not_given_to_git(shop: Shop) -> None:
    made = shop.prepare()
    trick = f"--output={shop.root / 'written'}"
    assert worktrees.finish(shop.git, str(shop.project), made.path, made.branch, trick, "x").changes.files == []
    assert not (shop.root / "written").exists()


def test_a_signature_that_the_user_demands_does_not_stop_it(shop: Shop) -> None:
    shop.run(shop.project, "config", "commit.gpgSign", "true")
    shop.run(shop.project, "config", "gpg.program", "false")
    worktree = shop.prepare()
    (Path(worktree.path) / "b.txt").write_text("b\n")
    assert shop.finish(worktree).changes.files == ["b.txt"]


def test_submodules_stay_what_they_are(shop: Shop) -> None:
    library = shop.make_repository("library")
    shop.run(shop.project, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "lib")
    shop.commit(shop.project, "a submodule")
    worktree = shop.prepare()
    (Path(worktree.path) / "b.txt").write_text("b\n")
    assert shop.finish(worktree).changes.files == ["b.txt"]
    assert shop.run(shop.project, "submodule", "status").startswith(shop.run(library, "rev-parse", "HEAD"))
    assert shop.run(worktree.path, "ls-files", "-s", "lib").startswith("160000")
