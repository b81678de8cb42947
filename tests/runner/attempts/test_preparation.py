"""What an attempt needs before it can begin, where several machines share a database."""

import uuid
from typing import Any

import pytest
from msgspec.structs import replace
from tests.conformance import queue_worker
from tests.runner.desk import Desk
from tests.runner.run_desk import RunDesk

from ramet.config.settings import DatabaseSettings, Settings, WorkSettings
from ramet.errors import CommitMissing, WorktreeRefused
from ramet.faults import Faults
from ramet.runner.attempts import preparation
from ramet.runner.context import Order, RunnerContext
from ramet.runner.machine import Machine

ELSEWHERE = "b" * 40
"""A commit that is in another machine's clone."""


async def _nobody(_request: Any) -> Any:
    raise AssertionError


@pytest.fixture
def runner(desk: Desk) -> RunnerContext:
    """A machine that shares its database with others."""
    settings = Settings(database=DatabaseSettings(type="postgres"), work=WorkSettings(host="north"))
    places = desk.machine.places
    return RunnerContext(
        ask=_nobody,
        machine=Machine(desk.ask, settings, places, desk.shop.environ),
        settings=settings,
        places=places,
        environ=desk.shop.environ,
        faults=Faults(),
        name="north",
        identify=lambda: uuid.uuid4().hex,
        token=str,
    )


def prepare(runner: RunnerContext, claimed: Any, run: Any = None) -> preparation.Prepared:
    return preparation.prepare(runner, claimed, Order(slot="north/1", driver="shell", run=run))


def build_elsewhere(desk: Desk) -> RunDesk:
    """A chain whose plan and implementation were made on another machine."""
    chain = RunDesk(desk, prompt="a cart", mode="chain")
    chain.run(output_content="the plan", git_branch="ramet/e1", git_base="a" * 40, git_head="a" * 40)
    chain.run(output_content="built", git_branch="ramet/e1", git_base="a" * 40, git_head=ELSEWHERE)
    return chain


@pytest.mark.requirement("R310")
def test_a_chain_whose_work_is_on_another_machine_says_which_commit_is_missing_and_fails(
    desk: Desk, runner: RunnerContext
) -> None:
    chain = build_elsewhere(desk)
    review = chain.claim()
    with pytest.raises(WorktreeRefused) as refusal:
        prepare(runner, review, chain.detail)
    assert f"commit {ELSEWHERE} on ramet/e1, the work of e2, is not in {desk.project}" in str(refusal.value)
    assert "push ramet/e1 there and fetch it here" in refusal.value.fix
    assert f"ramet run --resume r{chain.id} --retry-failed" in refusal.value.fix


@pytest.mark.requirement("R310")
def test_a_chain_goes_on_once_what_it_needs_was_fetched(desk: Desk, runner: RunnerContext) -> None:
    chain = RunDesk(desk, prompt="a cart", mode="chain")
    head = desk.shop.run(desk.project, "rev-parse", "HEAD").strip()
    for said in ("the plan", "built"):
        chain.run(output_content=said, git_branch="ramet/e1", git_base=head, git_head=head)
    worktree = prepare(runner, chain.claim(), chain.detail).worktree
    assert worktree is not None
    assert (worktree.branch, worktree.base) == ("ramet/e1", head)


@pytest.mark.requirement("R310")
def test_an_effort_of_the_queue_is_left_to_the_machine_that_has_what_it_needs(
    desk: Desk, runner: RunnerContext
) -> None:
    built = desk.run("implement", git_branch="ramet/e1", git_base="a" * 40, git_head=ELSEWHERE)
    claimed = queue_worker.claim(desk.world, effort_id=desk.add("review", based_on=built.id).id)
    with pytest.raises(CommitMissing) as refusal:
        prepare(runner, claimed)
    assert "or let that machine run the effort" in refusal.value.fix


def test_alone_on_its_database_a_machine_has_everything(desk: Desk, runner: RunnerContext) -> None:
    chain = build_elsewhere(desk)
    alone = replace(runner, machine=desk.machine)
    with pytest.raises(CommitMissing, match=f"the commit {ELSEWHERE} is not in"):
        prepare(alone, chain.claim(), chain.detail)
