"""Making a worktree and finding it again: what is there is used as it is, what is somebody else's is left alone."""

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.workspace.repositories import Shop

from ramet.errors import GitFailed, WorktreeError
from ramet.workspace.git.command import Git
from ramet.workspace.worktrees import worktree as worktrees


def test_a_worktree_is_outside_the_repository_on_a_branch_of_its_own(shop: Shop) -> None:
    worktree = shop.prepare("e7")
    path = Path(worktree.path)
    assert path.parent.parent == shop.folder
    assert path.parent.name.startswith("shop-")
    assert len(path.parent.name) == len("shop-") + 8
    assert (path.name, worktree.branch) == ("e7", "ramet/e7")
    assert worktree.base == shop.run(shop.project, "rev-parse", "HEAD")
    assert shop.run(path, "symbolic-ref", "HEAD") == "refs/heads/ramet/e7"
    assert (path / "a.txt").read_text() == "one\n"
    assert shop.run(shop.project, "status", "--porcelain") == ""


def test_it_begins_where_the_user_is_and_not_where_the_remote_is(shop: Shop) -> None:
    there = shop.run(shop.project, "rev-parse", "HEAD")
    shop.run(shop.root, "clone", "-q", str(shop.project), "clone")
    shop.project = shop.root / "clone"
    here = shop.commit(shop.project, "local, not pushed")
    assert shop.prepare("e1").base == here
    assert shop.prepare("e2", start=there).base == there


def test_a_start_that_is_not_here_is_refused_and_leaves_nothing(shop: Shop) -> None:
    with pytest.raises(WorktreeError, match="is not in") as refusal:
        shop.prepare("e1", start="1" * 40)
    assert "fetch" in refusal.value.fix
    assert shop.branches() == ["main"]
    assert _things(shop) == []


@pytest.mark.requirement("R184")
@pytest.mark.parametrize(
    "name", ["../e1", "/tmp/e1", "-rf", "", "e1/../../e2", "E1", "e1\n", "a b", "e1.lock", "x" * 65]
)
def test_a_name_that_was_not_made_by_us_is_refused(shop: Shop, name: str) -> None:
    with pytest.raises(WorktreeError, match="not a valid name for a worktree"):
        shop.prepare(name)
    assert not shop.folder.exists()


@pytest.mark.parametrize("start", ["--help", "HEAD", "main@{0}", "-1", "../x"])
def test_a_start_that_is_no_hash_is_not_given_to_git(shop: Shop, start: str) -> None:
    with pytest.raises(WorktreeError, match="is not in"):
        shop.prepare("e1", start=start)


@pytest.mark.requirement("R185")
def test_a_worktree_is_found_again_with_everything_that_was_left_in_it(shop: Shop) -> None:
    first = shop.prepare("e1")
    path = Path(first.path)
    (path / "a.txt").write_text("two\n")
    (path / "new.txt").write_text("new\n")
    shop.run(path, "add", "new.txt")
    again = shop.prepare("e1")
    assert (again.path, again.base) == (first.path, first.base)
    assert (path / "a.txt").read_text() == "two\n"
    assert shop.run(path, "status", "--porcelain").split("\n") == ["M a.txt", "A  new.txt"]


def test_one_that_was_deleted_by_hand_comes_back_with_its_commits(shop: Shop) -> None:
    worktree = shop.prepare("e1")
    (Path(worktree.path) / "a.txt").write_text("two\n")
    head = shop.commit(worktree.path, "work")
    shutil.rmtree(worktree.path)
    again = shop.prepare("e1")
    assert (again.path, again.base) == (worktree.path, head)
    assert (Path(again.path) / "a.txt").read_text() == "two\n"


def test_a_commit_on_no_branch_survives_that_its_worktree_was_deleted_by_hand(shop: Shop) -> None:
    worktree = shop.prepare("e1")
    shop.run(worktree.path, "checkout", "-q", "--detach")
    head = shop.commit(worktree.path, "on no branch")
    shutil.rmtree(worktree.path)
    shop.prepare("e1")
    assert [shop.run(shop.project, "rev-parse", ref) for ref in shop.kept()] == [head]


def test_a_worktree_that_lost_its_link_is_mended_and_the_repository_around_it_left_alone(shop: Shop) -> None:
    shop.run(shop.root, "init", "-q")  # as somebody has who keeps their home directory in git
    worktree = shop.prepare("e1")
    path = Path(worktree.path)
    (path / "a.txt").write_text("two\n")
    (path / ".git").unlink()
    finished = shop.finish(worktree)
    assert (finished.changes.files, finished.note) == (["a.txt"], None)
    assert shop.show("ramet/e1:a.txt") == "two"
    assert shop.run(shop.root, "for-each-ref") == ""


def test_one_that_somebody_locked_is_not_touched(shop: Shop) -> None:
    worktree = shop.prepare("e1")
    shop.run(shop.project, "worktree", "lock", "--reason", "on a stick", worktree.path)
    with pytest.raises(WorktreeError, match="locked: on a stick") as refusal:
        shop.prepare("e1")
    assert "git worktree unlock" in refusal.value.fix
    shutil.rmtree(worktree.path)
    with pytest.raises(WorktreeError, match="locked"):
        shop.prepare("e1")
    assert worktree.path in shop.run(shop.project, "worktree", "list", "--porcelain")


@pytest.mark.parametrize("kind", ["directory", "file", "link", "repository"])
def test_what_somebody_else_put_there_is_left_alone_and_another_name_taken(shop: Shop, kind: str) -> None:
    place = Path(shop.prepare("e1").path).parent
    stranger = place / "e5"
    match kind:
        case "directory":
            stranger.mkdir()
            (stranger / "precious").write_text("mine")
        case "file":
            stranger.write_text("mine")
        case "link":
            stranger.symlink_to(shop.project)
        case _:
            shutil.copytree(shop.make_repository("other"), stranger)
    before = _listing(stranger)
    worktree = shop.prepare("e5", owner="e5")
    assert (Path(worktree.path), worktree.branch) == (place / "e5-2", "ramet/e5-2")
    assert _listing(stranger) == before
    assert shop.prepare("e5", owner="e5") == worktree


@pytest.mark.requirement("R185")
def test_an_effort_of_the_same_number_from_another_database_gets_a_worktree_of_its_own(shop: Shop) -> None:
    first = shop.prepare("e1", owner="e1 of the first")
    (Path(first.path) / "precious").write_text("mine")
    second = shop.prepare("e1", owner="e1 of the second")
    assert second.path.endswith("/e1-2")
    assert not (Path(second.path) / "precious").exists()
    assert shop.prepare("e1", owner="e1 of the first") == first
    assert shop.prepare("e1", owner="e1 of the second") == second


def test_a_branch_of_the_users_with_our_name_is_not_taken_over(shop: Shop) -> None:
    shop.run(shop.project, "branch", "ramet/e1")
    shop.run(shop.project, "branch", "ramet/e1-2/deeper")
    assert shop.prepare("e1", owner="e1").branch == "ramet/e1-3"


def test_where_the_user_has_the_branch_checked_out_the_work_goes_on_beside_it(shop: Shop) -> None:
    worktree = shop.prepare("e1", owner="e1")
    (Path(worktree.path) / "a.txt").write_text("two\n")
    head = shop.commit(worktree.path, "work")
    shop.run(shop.project, "worktree", "remove", worktree.path)
    shop.run(shop.project, "checkout", "-q", "ramet/e1")
    again = shop.prepare("e1", owner="e1")
    assert (again.branch, again.base) == ("ramet/e1-2", head)
    shop.run(shop.project, "checkout", "-q", "main")
    assert shop.prepare("e1", owner="e1").branch == "ramet/e1-2"


def test_a_folder_of_worktrees_that_was_moved_is_found_again(shop: Shop) -> None:
    worktree = shop.prepare("e1")
    (Path(worktree.path) / "left.txt").write_text("mine")
    shop.folder.rename(shop.root / "moved")
    shop.folder = shop.root / "moved"
    again = shop.prepare("e1")
    assert Path(again.path).is_relative_to(shop.folder)
    assert (Path(again.path) / "left.txt").read_text() == "mine"
    assert shop.finish(again).changes.files == ["left.txt"]


def test_a_repository_that_was_moved_away_and_made_anew_leaves_the_old_worktree_alone(shop: Shop) -> None:
    worktree = shop.prepare("e1")
    (Path(worktree.path) / "left.txt").write_text("mine")
    shop.project.rename(shop.root / "elsewhere")
    shop.project = shop.make_repository("shop")
    again = shop.prepare("e1")
    assert again.path != worktree.path
    assert (Path(worktree.path) / "left.txt").read_text() == "mine"


@pytest.mark.timeout(120)
def test_eight_at_once_on_one_repository_are_all_made(shop: Shop) -> None:
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(shop.prepare, [f"e{number}" for number in range(1, 9)]))
    assert sorted(worktree.branch for worktree in made) == [f"ramet/e{number}" for number in range(1, 9)]
    assert all((Path(worktree.path) / "a.txt").read_text() == "one\n" for worktree in made)
    assert shop.run(shop.project, "fsck") == ""


@pytest.mark.timeout(120)
def test_eight_processes_that_want_the_same_one_get_it(shop: Shop) -> None:
    code = (
        "import os, sys; from pathlib import Path; from ramet.workspace.worktrees import worktree as w;"
        "folder = Path(sys.argv[1]); git = w.Git(os.environ, folder.parent / 'views');"
        "print(w.prepare(git, folder, sys.argv[2], 'e1', owner='e1').path)"
    )
    command = [sys.executable, "-c", code, str(shop.folder), str(shop.project)]
    processes = [subprocess.Popen(command, env=shop.environ, stdout=subprocess.PIPE) for _ in range(8)]
    said = {process.communicate(timeout=90)[0] for process in processes}
    assert len(said) == 1
    assert {process.returncode for process in processes} == {0}
    assert shop.branches() == ["main", "ramet/e1"]


def test_no_hook_of_the_repository_runs(shop: Shop) -> None:
    trace = shop.root / "hooks-ran"
    for hook in (
        "post-checkout",
        "pre-commit",
        "post-commit",
        "commit-msg",
        "reference-transaction",
        "post-index-change",
    ):
        script = shop.project / ".git" / "hooks" / hook
        script.write_text(f"#!/bin/sh\necho {hook} >> {trace}\n")
        script.chmod(0o755)
    shop.run(shop.project, "config", "core.hooksPath", ".git/hooks")
    worktree = shop.prepare("e1")
    (Path(worktree.path) / "b.txt").write_text("b\n")
    assert shop.finish(worktree).changes.files == ["b.txt"]
    assert not trace.exists()


def test_a_project_outside_of_any_repository_has_no_worktree(shop: Shop) -> None:
    plain = shop.root / "plain"
    plain.mkdir()
    assert worktrees.prepare(Git({"PATH": str(shop.home)}, shop.root / "views"), shop.folder, str(plain), "e1") is None


def test_a_project_that_the_repository_around_it_does_not_hold_has_none_either(shop: Shop) -> None:
    inside = shop.project / "scratch"
    inside.mkdir()
    (inside / "x").write_text("x")
    assert worktrees.prepare(shop.git, shop.folder, str(inside), "e1") is None


def test_a_project_below_the_top_of_its_repository_is_worked_on_in_its_place(shop: Shop) -> None:
    (shop.project / ".api").mkdir()
    (shop.project / ".api" / "x.txt").write_text("x\n")
    shop.commit(shop.project, "api")
    top, shop.project = shop.project, shop.project / ".api"
    worktree = shop.prepare("e1")
    path = Path(worktree.path)
    assert path.parts[-2:] == ("e1", ".api")
    (path / "x.txt").write_text("y\n")
    (path.parent / "a.txt").write_text("two\n")
    (path / ".ramet" / "e1").mkdir()
    (path / ".ramet" / "e1" / "1_PLAN.md").write_text("plan")
    finished = shop.finish(worktree)
    assert (finished.note, finished.changes.files) == (None, [".api/x.txt", "a.txt"])
    assert shop.run(top, "status", "--porcelain") == ""


def test_a_repository_without_commits_says_how_to_make_one(shop: Shop) -> None:
    empty = shop.root / "empty"
    empty.mkdir()
    shop.run(empty, "init", "-q")
    with pytest.raises(WorktreeError, match="no commit") as refusal:
        worktrees.prepare(shop.git, shop.folder, str(empty), "e1")
    command = refusal.value.fix.removeprefix("create one: git -C ").split(" ", 1)
    shop.run(command[0], *command[1].split())
    assert worktrees.prepare(shop.git, shop.folder, str(empty), "e1") is not None


def test_a_project_that_is_gone_is_said_to_be(shop: Shop) -> None:
    shutil.rmtree(shop.project)
    with pytest.raises(WorktreeError, match="does not exist"):
        shop.prepare("e1")


@pytest.mark.parametrize("name", ["-rf", "Ä b\n\"c'", "..", "$(touch x)", "x" * 200])
def test_whatever_a_project_is_called_its_folder_has_a_plain_name(shop: Shop, name: str) -> None:
    shop.project = shop.make_repository(f"deep/{name}" if name != ".." else "deep/..x")
    worktree = shop.prepare("e1")
    place = Path(worktree.path).parent.name
    assert set(place) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-")
    assert not place.startswith((".", "-"))
    (Path(worktree.path) / "b").write_text("b")
    assert shop.finish(worktree).changes.files == ["b"]


@pytest.mark.parametrize("obstacle", ["a file in the way", "a full disk"])
def test_where_it_cannot_be_made_nothing_is_left_behind(shop: Shop, obstacle: str) -> None:
    (shop.project / "big").write_bytes(b"x" * 200_000)
    shop.commit(shop.project, "big")
    if obstacle == "a file in the way":
        shop.folder.write_text("")
        with pytest.raises(WorktreeError, match="cannot be created") as refusal:
            shop.prepare("e1")
        shop.folder.unlink()
    else:
        _limit_files(shop, 100_000)
        with pytest.raises(WorktreeError, match="could not be created") as refusal:
            shop.prepare("e1")
        (shop.home / "bin" / "git").unlink()
    assert "disk" in refusal.value.fix
    assert _things(shop) == []
    assert shop.branches() == ["main"]
    assert len(shop.run(shop.project, "worktree", "list").split("\n")) == 1
    assert shop.prepare("e1").branch == "ramet/e1"


def test_one_that_was_interrupted_while_it_was_made_is_made_anew(shop: Shop) -> None:
    worktree = shop.prepare("e1", owner="e1")
    path = Path(worktree.path)
    label = json.loads(path.with_suffix(".json").read_text())
    path.with_suffix(".json").write_text(json.dumps(label | {"is_ready": False}))
    (path / "a.txt").unlink()
    shop.run(shop.project, "worktree", "lock", "--reason", "initializing", worktree.path)
    again = shop.prepare("e1", owner="e1")
    assert again == worktree
    assert (path / "a.txt").read_text() == "one\n"


@pytest.mark.requirement("R458")
def test_files_that_git_does_not_track_are_brought_along_where_the_project_says_so(shop: Shop) -> None:
    (shop.project / ".gitignore").write_text(".env*\nsecret/\n")
    (shop.project / ".worktreeinclude").write_text(".env\nsecret/*.key\nlink\na.txt\n!.env.bad\n")
    (shop.project / "secret").mkdir()
    for name in (".env", ".env.other", "secret/a.key", "secret/b.txt"):
        (shop.project / name).write_text(name)
    (shop.project / ".env").chmod(0o640)
    (shop.project / "link").symlink_to("/etc/passwd")
    worktree = shop.prepare("e1")
    path = Path(worktree.path)
    assert (path / ".env").read_text() == ".env"
    assert (path / ".env").stat().st_mode & 0o777 == 0o640
    assert (path / "secret" / "a.key").read_text() == "secret/a.key"
    assert not any((path / name).exists() for name in (".env.other", "secret/b.txt", "link", ".worktreeinclude"))
    (path / ".env").write_text("changed by the agent")
    assert (Path(shop.prepare("e1").path) / ".env").read_text() == "changed by the agent"


@pytest.mark.requirement("R458")
def test_nothing_is_brought_along_through_a_link_that_leads_out(shop: Shop) -> None:
    outside = shop.root / "outside"
    outside.mkdir()
    (shop.project / "conf").symlink_to(outside)
    start = shop.commit(shop.project, "a link")
    (shop.project / "conf").unlink()
    (shop.project / "conf").mkdir()
    (shop.project / "conf" / "x.key").write_text("key")
    (shop.project / ".worktreeinclude").write_text("*.key\n")
    shop.prepare("e1", start=start)
    assert list(outside.iterdir()) == []


def test_an_allowed_filter_of_the_users_works_and_one_that_fails_leaves_nothing_half_made(shop: Shop) -> None:
    shop.allow("loud")
    shop.run(shop.project, "config", "--global", "filter.loud.smudge", "tr a-z A-Z")
    shop.run(shop.project, "config", "--global", "filter.loud.clean", "tr A-Z a-z")
    (shop.project / ".gitattributes").write_text("*.loud filter=loud\n*.odd filter=nobody-configured-this\n")
    (shop.project / "x.loud").write_text("WORD\n")
    (shop.project / "y.odd").write_text("word\n")
    shop.commit(shop.project, "filters")
    worktree = shop.prepare("e1")
    path = Path(worktree.path)
    assert ((path / "x.loud").read_text(), (path / "y.odd").read_text()) == ("WORD\n", "word\n")
    (path / "x.loud").write_text("OTHER\n")
    shop.finish(worktree)
    assert shop.show("ramet/e1:x.loud") == "other"
    shop.run(shop.project, "config", "--global", "filter.loud.smudge", "false")
    shop.run(shop.project, "config", "--global", "filter.loud.required", "true")
    with pytest.raises(WorktreeError, match="loud"):
        shop.prepare("e2")
    assert shop.branches() == ["main", "ramet/e1"]


def test_a_repository_of_another_user_is_an_error_that_says_so(shop: Shop) -> None:
    if shop.project.stat().st_uid != 0:
        pytest.skip("only root can give a repository away")
    for path in (shop.project, shop.project / ".git"):
        shutil.chown(path, 12345)
    with pytest.raises(GitFailed, match="dubious ownership") as refusal:
        shop.prepare("e1")
    assert "safe.directory" in refusal.value.fix


def _things(shop: Shop) -> list[str]:
    return [str(path) for path in shop.folder.glob("*/*")] if shop.folder.is_dir() else []


def _listing(path: Path) -> list[str]:
    if not path.is_dir() or path.is_symlink():
        return [str(path.is_symlink()), path.read_text() if path.is_file() else ""]
    return sorted(str(entry) for entry in path.rglob("*"))


def _limit_files(shop: Shop, size: int) -> None:
    """From now on no file that git writes may be larger than this: to git, that is a full disk."""
    real = shutil.which("git")
    program = shop.home / "bin" / "git"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport os, resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"
        f"os.execv({real!r}, ['git', *sys.argv[1:]])\n"
    )
    program.chmod(0o755)
    shop.environ["PATH"] = f"{program.parent}:{shop.environ['PATH']}"
    shop.allow()
