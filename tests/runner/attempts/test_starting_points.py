"""Where efforts start: at the commit that their user was on when the work was added."""

import uuid
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.conformance import queue_worker
from tests.runner.desk import Desk
from tests.runner.run_desk import RunDesk, line

from ramet.config.settings import DatabaseSettings, Settings, WorkSettings
from ramet.errors import CommitMissing, InvalidParams, WorktreeError
from ramet.faults import Faults
from ramet.runner.attempts import preparation
from ramet.runner.context import Order, RunnerContext
from ramet.runner.machine import Machine
from ramet.workspace.worktrees.worktree import Worktree


async def _nobody(_request: Any) -> Any:
    raise AssertionError


@pytest.fixture
def runner(desk: Desk) -> RunnerContext:
    return RunnerContext(
        ask=_nobody,
        machine=desk.machine,
        settings=Settings(),
        places=desk.machine.places,
        environ=desk.shop.environ,
        faults=Faults(),
        name="north",
        identify=lambda: uuid.uuid4().hex,
        token=str,
    )


def share(desk: Desk, runner: RunnerContext) -> RunnerContext:
    """The same machine, if others share its database."""
    settings = Settings(database=DatabaseSettings(type="postgres"), work=WorkSettings(host="north"))
    return replace(runner, machine=Machine(desk.ask, settings, runner.places, desk.shop.environ), settings=settings)


def add(desk: Desk, **params: Any) -> Any:
    where: dict[str, Any] = {} if "based_on" in params else {"task": desk.task}
    return desk.submit("work.add", prompt="true", skill="shell", **where, **params)


def start(runner: RunnerContext, claimed: Any, run: Any = None) -> Worktree:
    prepared = preparation.prepare(runner, claimed, Order(slot="north/1", driver="shell", run=run))
    assert prepared.worktree is not None
    return prepared.worktree


def claim(desk: Desk, effort: Any) -> Any:
    return queue_worker.claim(desk.world, effort_id=effort.id)


def head(desk: Desk) -> str:
    return desk.shop.run(desk.project, "rev-parse", "HEAD")


@pytest.mark.requirement("R362")
def test_a_queued_effort_starts_where_its_user_was_even_if_that_branch_is_gone(
    desk: Desk, runner: RunnerContext
) -> None:
    shop = desk.shop
    shop.run(desk.project, "switch", "-q", "-c", "fix-cart")
    there = shop.commit(desk.project, "not pushed")
    effort = add(desk)
    shop.run(desk.project, "switch", "-q", "main")
    shop.commit(desk.project, "meanwhile")
    shop.run(desk.project, "branch", "-q", "-D", "fix-cart")
    shop.run(desk.project, "reflog", "expire", "--expire=now", "--all")
    shop.run(desk.project, "gc", "-q", "--prune=now")
    assert (effort.base_commit, effort.base_branch, effort.base_changes) == (there, "fix-cart", None)
    assert start(runner, claim(desk, effort)).base == there


@pytest.mark.requirement("R362")
def test_an_effort_that_takes_changes_along_starts_at_their_commit_and_its_own_changes_count_from_there(
    desk: Desk, runner: RunnerContext
) -> None:
    desk.write("a.txt", "two\n")
    unseen = add(desk)
    assert (unseen.uncommitted, unseen.base_changes) == (["a.txt"], None)
    effort = add(desk, start={"with_changes": True})
    worktree = start(runner, claim(desk, effort))
    assert (effort.base_commit, worktree.base) == (head(desk), effort.base_changes)
    assert Path(worktree.path, "a.txt").read_text() == "two\n"
    assert desk.shop.finish(worktree).changes.files == []


@pytest.mark.requirement("R362")
def test_the_next_effort_of_a_chain_starts_at_its_predecessors_result(desk: Desk, runner: RunnerContext) -> None:
    first = claim(desk, add(desk))
    worktree = start(runner, first)
    begun = {"worktree": worktree.path, "git_branch": worktree.branch, "git_base": worktree.base}
    queue_worker.begin(desk.world, first, **begun)
    result = desk.shop.commit(worktree.path, "its work")
    queue_worker.complete(desk.world, first, git_head=result)
    desk.shop.commit(desk.project, "the user goes on")
    following = add(desk, based_on=first.id)
    assert following.base_commit is None
    assert start(runner, claim(desk, following)).base == result


@pytest.mark.requirement("R362")
def test_the_next_effort_of_a_chain_has_no_base_of_its_own(desk: Desk) -> None:
    first = add(desk)
    with pytest.raises(InvalidParams, match=f"e{first.id} decides where its next effort starts") as refusal:
        add(desk, based_on=first.id, start={"base": "main"})
    assert "leave out --base" in refusal.value.fix


@pytest.mark.requirement("R362")
def test_a_copy_of_an_effort_starts_where_the_first_one_did(desk: Desk, runner: RunnerContext) -> None:
    there = head(desk)
    first = claim(desk, add(desk, start={"base": "main"}))
    queue_worker.complete(desk.world, first, "error", failure="permanent")
    desk.shop.commit(desk.project, "meanwhile")
    copy = desk.world.call("work.retry", effort_id=first.id)
    assert (copy.base_commit, copy.base_branch) == (there, "main")
    assert start(runner, claim(desk, copy)).base == there


@pytest.mark.requirement("R362")
@pytest.mark.parametrize("mode", ["sequential", "parallel"])
def test_lines_without_dependencies_start_at_the_base_of_their_run(
    desk: Desk, runner: RunnerContext, mode: str
) -> None:
    there = head(desk)
    lines = [line("1", skill="shell"), line("2", skill="shell")]
    started = desk.submit("run.start", task=desk.task, mode=mode, lines=lines)
    desk.shop.commit(desk.project, "meanwhile")
    run = RunDesk.__new__(RunDesk)
    run.desk, run.id = desk, started.id
    run.attend()
    assert (started.base_commit, started.base_branch) == (there, "main")
    claimed = [run.claim(f"host/{number}") for number in range(1 if mode == "sequential" else 2)]
    for each in claimed:
        assert (each.base_commit, start(runner, each, run.detail).base) == (there, there)


@pytest.mark.requirement("R362")
def test_a_chain_starts_at_its_base(desk: Desk, runner: RunnerContext) -> None:
    there = head(desk)
    started = desk.submit("run.start", task=desk.task, mode="chain", prompt="a cart", start={"base": "HEAD"})
    desk.shop.commit(desk.project, "meanwhile")
    run = RunDesk.__new__(RunDesk)
    run.desk, run.id = desk, started.id
    run.attend()
    plan = run.claim()
    assert (plan.run_line, plan.base_commit) == ("plan", there)
    assert start(runner, plan, run.detail).base == there


@pytest.mark.requirement("R362")
def test_a_base_that_is_on_another_machine_leaves_the_effort_to_that_machine(desk: Desk, runner: RunnerContext) -> None:
    desk.shop.run(desk.project, "switch", "-q", "-c", "fix-cart")
    effort = add(desk)
    elsewhere = replace(claim(desk, effort), base_commit="b" * 40)
    desk.world.sql("UPDATE efforts SET base_commit = :base WHERE id = :id", base="b" * 40, id=effort.id)
    with pytest.raises(CommitMissing, match="the base fix-cart bbbbbbbb is not in") as refusal:
        start(share(desk, runner), elsewhere)
    assert "push fix-cart there and fetch it here, or let that machine run the effort" in refusal.value.fix
    with pytest.raises(WorktreeError, match=r"is not in .* any more") as alone:
        start(runner, elsewhere)
    assert "--base REF" in alone.value.fix


@pytest.mark.requirement("R362")
def test_an_attempt_whose_worktree_and_branch_vanished_starts_again_at_the_base(
    desk: Desk, runner: RunnerContext
) -> None:
    there = head(desk)
    effort = claim(desk, add(desk))
    worktree = start(runner, effort)
    queue_worker.begin(desk.world, effort, worktree=worktree.path, git_branch=worktree.branch, git_base=worktree.base)
    desk.shop.run(desk.project, "worktree", "remove", "--force", worktree.path)
    desk.shop.run(desk.project, "branch", "-q", "-D", worktree.branch)
    desk.shop.commit(desk.project, "meanwhile")
    again = desk.world.call("work.get", effort_id=effort.id)
    known = {name: getattr(again, name) for name in ("worktree", "git_branch", "git_base")}
    assert start(runner, replace(effort, **known)) == worktree
    assert worktree.base == there


@pytest.mark.requirement("R362")
def test_trouble_with_git_is_noted_unless_the_user_chose_a_base(desk: Desk) -> None:
    fresh = desk.shop.root / "fresh"
    fresh.mkdir()
    desk.shop.run(fresh, "init", "-q")
    desk.world.call("db.project.upsert", path=str(fresh))
    params: dict[str, Any] = {"prompt": "true", "skill": "shell", "task": f"{fresh}/tasks/x"}
    added = desk.submit("work.add", **params)
    assert added.base_commit is None
    assert "has no commit to create a worktree from" in added.base_note
    with pytest.raises(WorktreeError, match="has no commit"):
        desk.submit("work.add", start={"with_changes": True}, **params)


@pytest.mark.requirement("R362")
def test_cleaning_forgets_the_bases_that_no_unfinished_effort_needs(desk: Desk) -> None:
    def kept() -> list[str]:
        return desk.shop.run(desk.project, "for-each-ref", "--format=%(objectname)", "refs/ramet/bases/").split()

    done = claim(desk, add(desk))
    queue_worker.complete(desk.world, done)
    waiting = desk.shop.commit(desk.project, "second")
    add(desk)
    assert sorted(kept()) == sorted([done.base_commit, waiting])
    desk.call("worktree.clean", dry_run=True)
    assert len(kept()) == 2
    desk.call("worktree.clean")
    assert kept() == [waiting]
