"""The ends of sub-agents: with a context window theirs are over, however it ends."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.conformance.hook_calls import (
    OTHER_WINDOW,
    WINDOW,
    hook,
    session,
    start,
)
from tests.world import World

A_CHILD = f"claude:{WINDOW}/a1"


def hand_off(world: World, above: int) -> None:
    world.call("db.session.handoff", session_id=above, summary="half")


def finish(world: World, above: int) -> None:
    world.call("db.session.finish", session_id=above)


def go_on(world: World, above: int) -> None:
    world.call("db.session.continue", session_id=above)


def take_another(world: World, above: int) -> None:
    """The agent begins anew with what it holds: its session from before ends."""
    found = session(world, above)
    world.call("db.session.start", task_id=found.task_id, effort_id=found.effort_id, agent_id=found.agent_id)


@pytest.mark.requirement("R246")
@pytest.mark.parametrize("end", [hand_off, finish, go_on, take_another])
def test_however_a_session_ends_its_sub_agents_do_too(world: World, end: Callable[[World, int], Any]) -> None:
    above = start(world)
    child = hook(world, "subagent_start", agent_id="a1").session_id
    world.call("hooks.subagentStart", session_id=child, subagent_id="b1")
    end(world, above)
    assert session(world, above).outcome == "success"
    assert session(world, A_CHILD).outcome == "success"
    assert session(world, f"{A_CHILD}/b1").outcome == "success"
    ended = world.call("events.list", kind="session.ended").items
    assert [each.session_id for each in ended] == [above, above + 1, above + 2]


@pytest.mark.parametrize("end", [hand_off, finish, go_on, take_another])
def test_a_child_that_somebody_started_goes_on_without_its_parent(
    world: World, end: Callable[[World, int], Any]
) -> None:
    above = session(world, start(world))
    mine = {"task_id": above.task_id, "effort_id": above.effort_id, "parent_session_id": above.id}
    children = [world.call("db.session.start", **mine, **who).id for who in ({}, {"agent_id": "bob"})]
    end(world, above.id)
    for child in children:
        assert world.call("db.session.heartbeat", session_id=child).ended_at is None


@pytest.mark.requirement("R246")
def test_a_light_effort_is_over_with_the_last_window_though_the_first_handed_off(world: World) -> None:
    above = start(world)
    hook(world, "subagent_start", agent_id="a1")
    hand_off(world, above)
    hook(world, "session_end")
    start(world, native_id=OTHER_WINDOW)
    world.call("db.session.continue", session_id=above, driver="claude", native_id=OTHER_WINDOW)
    assert world.call("db.counts").active_efforts == 1
    hook(world, "session_end", native_id=OTHER_WINDOW)
    assert session(world, A_CHILD).outcome == "success"
    assert world.call("db.counts").active_efforts == 0


@pytest.mark.requirement("R246")
def test_the_end_of_a_window_that_handed_off_ends_what_began_in_it_since(world: World) -> None:
    """Another program that its agent had started says something after the hand-off, and nothing any more."""
    above = start(world)
    hand_off(world, above)
    child = hook(world, "session_start", vendor="codex", native_id=OTHER_WINDOW, session=above).session_id
    assert (session(world, child).parent_session_id, session(world, child).ended_at) == (above, None)
    hook(world, "session_end")
    assert session(world, child).outcome == "success"
    assert world.call("db.counts").active_efforts == 0


def test_a_window_that_ends_late_leaves_the_one_that_goes_on(world: World) -> None:
    above = start(world)
    hand_off(world, above)
    start(world, native_id=OTHER_WINDOW)
    second = world.call("db.session.continue", session_id=above, driver="claude", native_id=OTHER_WINDOW).session
    before = session(world, above)
    hook(world, "session_end")
    assert (session(world, above), session(world, second.id).ended_at) == (before, None)
    assert world.call("db.effort.get", effort_id=second.effort_id).lifecycle == "active"
