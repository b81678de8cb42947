"""The queue: what waits, for what, and in which order it is run."""

from typing import Any

import pytest
from tests.conformance.queue_worker import (
    TASK,
    add,
    claim,
    complete,
    expire,
    run,
)
from tests.world import World

from ramet.errors import (
    EffortFinished,
    EffortHeld,
    EffortNotFound,
    InvalidParams,
    NotFinished,
    ProjectNotFound,
    UnknownSkill,
)


def ids(found: Any) -> list[int]:
    return [effort.id for effort in found.items]


def test_adding_creates_the_task_where_it_is_new_and_queues_the_effort(world: World) -> None:
    effort = add(world, "mend it", skill="plan", driver="shell", model="m", priority=3, timeout_seconds=60)
    assert (effort.task_id, effort.prompt, effort.skill, effort.lifecycle) == (TASK, "mend it", "plan", "queued")
    assert (effort.driver, effort.model, effort.priority, effort.timeout_seconds) == ("shell", "m", 3, 60)
    assert (effort.ordinal, effort.attempts, effort.artifact_prefix, effort.blocked) == (1, 0, "1_PLAN", False)
    assert world.events() == ["project.added", "task.added", "effort.queued"]
    assert add(world).ordinal == 2


def test_an_effort_that_is_based_on_another_is_of_its_task_and_waits_for_it(world: World) -> None:
    plan = add(world, skill="plan")
    build = add(world, based_on=plan.id)
    assert (build.task_id, build.based_on, build.depends_on) == (TASK, plan.id, [plan.id])
    assert (build.blocked, build.blocked_by, build.blocked_status) == (True, plan.id, "queued")


@pytest.mark.parametrize(
    ("params", "error", "field"),
    [
        ({}, InvalidParams, "task"),
        ({"task": "/nowhere/x"}, ProjectNotFound, "task"),
        ({"task": "relative"}, InvalidParams, "task"),
        ({"task": TASK, "skill": "sing"}, UnknownSkill, "skill"),
        ({"task": TASK, "based_on": 99}, EffortNotFound, "based_on"),
        ({"task": TASK, "depends_on": [99]}, EffortNotFound, "depends_on"),
        ({"task": TASK, "prompt": ""}, InvalidParams, "prompt"),
        ({"task": TASK, "driver": "No Such!"}, InvalidParams, "driver"),
    ],
)
def test_what_cannot_be_queued_is_refused_and_leaves_nothing(
    world: World, params: Any, error: type[Exception], field: str
) -> None:
    world.call("db.project.upsert", path="/shop")
    before = world.dump()
    with pytest.raises(error) as refusal:
        world.call("work.add", **{"prompt": "x", **params})
    assert refusal.value.field == field  # type: ignore[attr-defined]
    assert world.dump() == before


@pytest.mark.requirement("R180")
def test_the_next_is_the_most_urgent_and_among_equals_the_oldest(world: World) -> None:
    low, first, second, high = (add(world, priority=priority) for priority in (-1, 0, 0, 5))
    order = []
    while (effort := world.call("work.next")) is not None:
        order.append(effort.id)
        run(world, effort)
    assert order == [high.id, first.id, second.id, low.id]


@pytest.mark.requirement("R180", "R181")
def test_what_needs_others_is_ready_when_each_of_them_has_succeeded(world: World) -> None:
    one, two = add(world), add(world)
    both = add(world, depends_on=[two.id, one.id, two.id], priority=9)
    assert both.depends_on == [two.id, one.id]
    assert world.call("work.next").id == one.id
    run(world, one)
    blocked = world.call("work.blocked", effort_id=both.id)
    assert (blocked.blocked, blocked.by, blocked.status) == (True, two.id, "queued")
    run(world, two)
    assert world.call("work.next").id == both.id
    assert not world.call("work.get", effort_id=both.id).blocked


@pytest.mark.requirement("R181")
@pytest.mark.parametrize("outcome", ["error", "timeout", "cancelled", "dropped"])
def test_what_failed_or_was_dropped_goes_on_blocking_and_is_named_with_its_outcome(world: World, outcome: str) -> None:
    first = add(world)
    waiting = add(world, depends_on=[first.id])
    if outcome == "dropped":
        world.call("work.drop", effort_id=first.id)
    else:
        run(world, first, outcome)
    blocked = world.call("work.blocked", effort_id=waiting.id)
    assert (blocked.blocked, blocked.by, blocked.status) == (True, first.id, outcome)
    assert world.call("work.next") is None
    assert claim(world, effort_id=waiting.id).refused == "blocked"


@pytest.mark.requirement("R181")
def test_one_that_waits_for_a_time_says_until_when(world: World) -> None:
    effort = add(world)
    run(world, effort, "error", failure="limit", retry_at="2026-01-05T09:00:00Z")
    blocked = world.call("work.blocked", effort_id=effort.id)
    assert (blocked.blocked, blocked.by, blocked.status) == (True, None, "waits until 2026-01-05T09:00:00.000Z")
    assert world.call("work.next") is None
    world.clock.advance(3600)
    assert world.call("work.next").id == effort.id


def test_a_worker_is_offered_only_what_its_agent_may_take(world: World) -> None:
    add(world, skill="do", priority=1)
    plan = add(world, skill="plan")
    world.call("db.agents.register", id="planner", claims=["plan", "review"])
    world.call("db.agents.register", id="anybody")
    assert world.call("work.next", worker="planner").id == plan.id
    assert world.call("work.next", worker="anybody").skill == world.call("work.next", worker="stranger").skill == "do"


def test_the_next_of_a_project_is_of_that_project(world: World) -> None:
    add(world, priority=1)
    world.call("db.project.upsert", path="/mill")
    wheel = add(world, task="/mill/wheel")
    assert world.call("work.next", project="/mill").id == wheel.id
    with pytest.raises(ProjectNotFound):
        world.call("work.next", project="/nowhere")


def test_the_next_may_be_one_whose_worker_has_vanished(world: World) -> None:
    lost = add(world)
    waiting = add(world)
    claim(world, effort_id=lost.id)
    assert world.call("work.next").id == waiting.id
    expire(world, lost.id)
    assert world.call("work.next").id == lost.id


def test_efforts_are_listed_newest_first_by_state_and_task_and_in_pages(world: World) -> None:
    first, second, third = add(world), add(world, task="/shop/tasks/till"), add(world)
    run(world, first)
    claim(world, effort_id=second.id)
    world.effort()
    assert ids(world.call("work.list")) == [third.id, second.id, first.id]
    assert [ids(world.call("work.list", state=state)) for state in ("queued", "active", "finished")] == [
        [third.id],
        [second.id],
        [first.id],
    ]
    assert ids(world.call("work.list", task=TASK)) == [third.id, first.id]
    assert ids(world.call("work.list", task=TASK, state="finished")) == [first.id]
    assert ids(world.call("work.list", run=1)) == ids(world.call("work.list", run=1, state="queued")) == []
    page = world.call("work.list", limit=2)
    assert (ids(page), page.next) == ([third.id, second.id], second.id)
    assert ids(world.call("work.list", limit=2, cursor=page.next)) == [first.id]


def test_a_retry_is_a_fresh_copy_and_what_waits_waits_for_the_copy(world: World) -> None:
    plan = add(world, skill="plan")
    run(world, plan)
    first = add(world, "build", based_on=plan.id, driver="shell", priority=2, timeout_seconds=9)
    waiting = add(world, depends_on=[plan.id, first.id])
    run(world, first, "error", reason="broke")
    copy = world.call("work.retry", effort_id=first.id)
    assert (copy.retry_of, copy.lifecycle, copy.attempts, copy.ordinal) == (first.id, "queued", 0, 4)
    for field in ("prompt", "skill", "based_on", "depends_on", "driver", "priority", "timeout_seconds", "task_id"):
        assert getattr(copy, field) == getattr(first, field)
    assert world.call("work.get", effort_id=waiting.id).depends_on == [plan.id, copy.id]
    run(world, copy)
    assert world.call("work.next").id == waiting.id
    assert world.call("work.get", effort_id=first.id).outcome == "error"


def test_a_resume_is_the_same_effort_with_its_failures_forgotten(world: World) -> None:
    effort = add(world)
    run(world, effort, "error", failure="permanent", reason="broke", output_content="half")
    again = world.call("work.resume", effort_id=effort.id)
    assert (again.id, again.lifecycle, again.outcome, again.finished_at) == (effort.id, "queued", None, None)
    assert (again.failure, again.reason, again.attempts, again.output_content) == (None, None, 1, "half")
    claimed = claim(world)
    assert (claimed.id, claimed.attempts, claimed.generation) == (effort.id, 2, 2)


def test_a_success_is_not_resumed(world: World) -> None:
    effort = add(world)
    run(world, effort)
    with pytest.raises(EffortFinished) as refusal:
        world.call("work.resume", effort_id=effort.id)
    assert f"ramet retry e{effort.id}" in refusal.value.fix


@pytest.mark.parametrize("name", ["work.retry", "work.resume"])
def test_only_what_is_finished_and_was_queued_is_run_again(world: World, name: str) -> None:
    effort, by_hand = add(world), world.effort()
    with pytest.raises(NotFinished):
        world.call(name, effort_id=effort.id)
    claim(world)
    with pytest.raises(NotFinished):
        world.call(name, effort_id=effort.id)
    world.call("db.effort.finish", effort_id=by_hand.id, outcome="error")
    with pytest.raises(InvalidParams, match="never in the queue"):
        world.call(name, effort_id=by_hand.id)
    with pytest.raises(EffortNotFound):
        world.call(name, effort_id=99)


def test_dropping_takes_an_effort_out_of_the_queue_for_good(world: World) -> None:
    effort = add(world)
    dropped = world.call("work.drop", effort_id=effort.id)
    assert (dropped.lifecycle, dropped.outcome, dropped.already) == ("finished", "dropped", False)
    assert world.call("work.drop", effort_id=effort.id).already
    assert claim(world, effort_id=effort.id).refused == "not_queued"
    assert world.events().count("effort.finished") == 1


def test_dropping_lets_an_agent_go_that_was_given_the_effort_by_hand(world: World) -> None:
    effort = add(world)
    world.call("db.agents.register", id="ada")
    world.call("db.agents.assign", id="ada", effort_id=effort.id)
    world.call("work.drop", effort_id=effort.id)
    assert world.call("db.agents.get", id="ada").effort_id is None
    assert world.call("db.check").findings == []


def test_what_runs_or_is_finished_is_not_dropped(world: World) -> None:
    running, done = add(world), add(world)
    run(world, done)
    claim(world, "host/7", effort_id=running.id)
    with pytest.raises(EffortHeld, match="host/7"):
        world.call("work.drop", effort_id=running.id)
    with pytest.raises(EffortFinished):
        world.call("work.drop", effort_id=done.id)


@pytest.mark.requirement("R154", "R157")
def test_the_output_of_an_effort_is_replaced_and_its_file_stays_known(world: World) -> None:
    effort = add(world, skill="plan")
    run(world, effort, output_content="the plan", report_file=".ramet/e1/1_PLAN.md")
    replaced = world.call("work.output", effort_id=effort.id, output_content="a better plan")
    assert (replaced.output_content, replaced.report_file) == ("a better plan", ".ramet/e1/1_PLAN.md")
    assert world.events()[-1] == "effort.output"
    assert world.call("work.output", effort_id=effort.id, output_content="").output_content == ""


def test_a_text_may_hold_what_a_column_cannot(world: World) -> None:
    effort = add(world, "a\0b")
    done = run(world, effort, "error", reason="c\0d", output_content="e\0f")
    assert (done.prompt, done.reason, done.output_content) == ("a\u2400b", "c\u2400d", "e\u2400f")


def test_an_effort_of_the_queue_is_finished_by_its_worker_alone(world: World) -> None:
    effort = add(world)
    claimed = claim(world)
    with pytest.raises(EffortHeld, match="host/1") as refusal:
        world.call("db.effort.finish", effort_id=effort.id)
    assert f"ramet kill e{effort.id}" in refusal.value.fix
    assert complete(world, claimed).outcome == "success"
