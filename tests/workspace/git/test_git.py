"""Git is run so that nothing in a repository, and nothing in the environment, decides what happens."""

import threading
import time
from pathlib import Path

import pytest
from tests.workspace.repositories import Shop

from ramet.errors import GitFailed
from ramet.workspace.git import command as git_module
from ramet.workspace.git.command import Git


def test_a_failure_says_which_command_what_git_said_and_what_to_do(shop: Shop) -> None:
    with pytest.raises(GitFailed) as refusal:
        shop.git.run(shop.project, "worktree", "add", "--quiet", "--", "/nowhere/x", "no-such-branch")
    assert refusal.value.message.startswith("git worktree add failed: ")
    assert "no-such-branch" in refusal.value.message
    assert refusal.value.fix


def test_a_machine_without_git_is_told_so(shop: Shop) -> None:
    with pytest.raises(GitFailed, match="git is not installed") as refusal:
        Git({"PATH": str(shop.home)}, shop.root / "views").run(shop.project, "status")
    assert "install git" in refusal.value.fix


def test_variables_that_lead_git_elsewhere_are_not_passed_on(shop: Shop, tmp_path: Path) -> None:
    other = shop.make_repository("other")
    led = {"GIT_DIR": str(other / ".git"), "GIT_WORK_TREE": str(other), "GIT_INDEX_FILE": str(tmp_path / "x")}
    led |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "a.b", "GIT_CONFIG_VALUE_0": "c"}
    astray = Git(shop.environ | led, tmp_path / "views")
    assert astray.run(shop.project, "rev-parse", "--show-toplevel").strip() == str(shop.project)
    assert astray.ask(shop.project, "config", "--get", "a.b") is None


def test_a_program_that_git_would_reach_through_ext_is_not_run(shop: Shop, tmp_path: Path) -> None:
    with pytest.raises(GitFailed, match="ext"):
        shop.git.run(shop.project, "ls-remote", f"ext::touch {tmp_path / 'ran'}")
    assert not (tmp_path / "ran").exists()


def test_the_monitor_that_a_repository_names_is_not_run(shop: Shop, tmp_path: Path) -> None:
    shop.run(shop.project, "config", "core.fsmonitor", f"touch {tmp_path / 'ran'};false")
    shop.git.run(shop.project, "status")
    assert not (tmp_path / "ran").exists()


def test_a_command_that_hangs_is_ended_with_what_it_started(shop: Shop) -> None:
    shop.run(shop.project, "config", "--global", "filter.slow.clean", "sleep 300; cat")
    (shop.project / ".gitattributes").write_text("* filter=slow\n")
    git = Git(shop.environ, shop.root / "views", filters=["slow"], timeout_seconds=1)
    started = time.monotonic()
    with pytest.raises(GitFailed, match="took longer"):
        git.run(shop.project, "add", "--all")
    assert time.monotonic() - started < 30


def test_a_lock_of_somebody_elses_is_waited_for(shop: Shop) -> None:
    lock = shop.project / ".git" / "refs" / "heads" / "new.lock"
    lock.touch()
    timer = threading.Timer(0.3, lock.unlink)
    timer.start()
    shop.git.run(shop.project, "update-ref", "refs/heads/new", "HEAD")
    timer.join()
    assert "new" in shop.branches()


def test_a_lock_that_stays_is_an_error(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_module, "_LOCK_PAUSE_SECONDS", 0.001)
    (shop.project / ".git" / "refs" / "heads" / "new.lock").touch()
    with pytest.raises(GitFailed, match="File exists"):
        shop.git.run(shop.project, "update-ref", "refs/heads/new", "HEAD")


def test_commits_are_the_users_where_git_knows_the_user_and_ramets_elsewhere(shop: Shop) -> None:
    def author() -> str:
        identified = shop.git.identified(shop.project)
        return identified.run(shop.project, "var", "GIT_AUTHOR_IDENT").rpartition(">")[0] + ">"

    assert author() == "Ramet <ramet@localhost>"
    shop.run(shop.project, "config", "--global", "user.name", "Ann")
    shop.run(shop.project, "config", "--global", "user.email", "ann@shop.example")
    assert author() == "Ann <ann@shop.example>"
