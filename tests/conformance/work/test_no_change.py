"""The outcome `no_change`: the skill changes code, the agent ended well, and no file changed."""

from typing import Any

import pytest
from tests.conformance.queue_worker import NO_CHANGES, add, begin, claim, complete, run
from tests.world import World

from ramet.model.record.effort import Outcome
from ramet.model.work.no_change import say_no_change

CHANGES = {"files": ["cart.py"], "insertions": 1, "deletions": 0}


def keep_skill(world: World, name: str, changes: str | None) -> None:
    """A project's skill, as its SKILL.md says it."""
    project = world.call("db.project.upsert", path="/shop")
    text: dict[str, Any] = {
        "file": "x",
        "description": "x",
        "instructions": "x",
        "template_texts": {},
        "changes": changes,
    }
    world.call("db.skills.keep", name=name, project_id=project.id, definition={"text": text})


@pytest.mark.requirement("R359")
@pytest.mark.parametrize("skill", ["implement", "improve"])
def test_an_effort_that_should_change_code_and_changed_no_file_says_so(world: World, skill: str) -> None:
    effort = add(world, skill=skill)
    done = complete(world, begin(world, claim(world, effort_id=effort.id)), changes=NO_CHANGES)
    assert (done.lifecycle, done.outcome, done.reason) == ("finished", "no_change", "no files were changed")
    assert (done.requeued, done.failure, done.attempts, done.agent_failures) == (False, None, 1, 0)
    (finished,) = [each for each in world.call("events.list").items if each.kind == "effort.finished"]
    assert finished.data["outcome"] == "no_change"
    assert world.call("fleet.notices").items == []
    assert world.call("drivers.parked").items == []


@pytest.mark.requirement("R359")
def test_one_that_changed_a_file_or_of_which_git_says_nothing_succeeds(world: World) -> None:
    assert run(world, add(world, skill="implement"), changes=CHANGES).outcome == "success"
    assert run(world, add(world, skill="implement")).outcome == "success"


@pytest.mark.requirement("R359")
@pytest.mark.parametrize("outcome", ["error", "timeout", "stuck", "cancelled"])
def test_a_failure_stays_a_failure_without_changes(world: World, outcome: Outcome) -> None:
    done = run(world, add(world, skill="implement"), outcome, changes=NO_CHANGES, failure="permanent", reason="no")
    assert (done.outcome, done.reason) == (outcome, "no")


@pytest.mark.requirement("R359")
@pytest.mark.parametrize(("changes", "outcome"), [("code", "no_change"), (None, "success")])
def test_a_skill_of_the_project_says_whether_it_changes_code(
    world: World, changes: str | None, outcome: Outcome
) -> None:
    keep_skill(world, "polish", changes)
    assert run(world, add(world, skill="polish"), changes=NO_CHANGES).outcome == outcome


@pytest.mark.requirement("R359")
@pytest.mark.parametrize(
    ("refused", "reason"),
    [
        (0, "no files were changed"),
        (1, "no files were changed; 1 tool call was refused"),
        (1200, "no files were changed; 1,200 tool calls were refused"),
    ],
)
def test_the_reason_counts_the_refused_calls(refused: int, reason: str) -> None:
    assert say_no_change(refused) == reason


def test_what_the_worker_says_comes_before_the_reason(world: World) -> None:
    done = run(world, add(world, skill="improve"), changes=NO_CHANGES, reason="its branch was restored")
    assert done.reason == "its branch was restored; no files were changed"


@pytest.mark.requirement("R359")
@pytest.mark.parametrize(
    ("needed", "dependent", "is_ready"),
    [({}, {}, False), ({"accept_no_change": True}, {}, True), ({}, {"accept_no_change": True}, True)],
)
def test_dependents_wait_unless_one_of_both_accepts_it(
    world: World, needed: dict[str, Any], dependent: dict[str, Any], is_ready: bool
) -> None:
    first = add(world, skill="implement", **needed)
    second = add(world, skill="review", based_on=first.id, **dependent)
    run(world, first, changes=NO_CHANGES)
    row = world.call("work.get", effort_id=second.id)
    waits = (False, None, None) if is_ready else (True, first.id, "no_change")
    assert (row.blocked, row.blocked_by, row.blocked_status) == waits
    assert (world.call("work.next") is not None) is is_ready
    claimed = claim(world)
    assert (getattr(claimed, "id", None) == second.id) is is_ready


def test_accepting_it_accepts_no_failure(world: World) -> None:
    first = add(world, skill="implement", accept_no_change=True)
    second = add(world, based_on=first.id, accept_no_change=True)
    run(world, first, "error", failure="permanent")
    assert world.call("work.get", effort_id=second.id).blocked


@pytest.mark.requirement("R359")
def test_it_can_be_resumed_and_a_copy_accepts_what_it_accepted(world: World) -> None:
    effort = add(world, skill="implement", accept_no_change=True)
    run(world, effort, changes=NO_CHANGES)
    assert world.call("work.retry", effort_id=effort.id).accepts_no_change
    assert world.call("work.resume", effort_id=effort.id).lifecycle == "queued"
    assert run(world, effort, changes=CHANGES).outcome == "success"
