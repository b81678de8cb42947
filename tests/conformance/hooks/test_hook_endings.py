"""How a session that its hooks told of ends, and how it goes on."""

import pytest
from tests.conformance.hook_calls import (
    WINDOW,
    hook,
    session,
    start,
)
from tests.world import World


@pytest.mark.requirement("R243")
def test_the_end_of_a_session_ends_its_sub_agents_and_the_effort_that_was_only_its_own(world: World) -> None:
    above = start(world)
    hook(world, "subagent_start", agent_id="a1")
    hook(world, "session_end", reason="prompt_input_exit")
    assert session(world, above).outcome == "success"
    assert session(world, f"claude:{WINDOW}/a1").outcome == "success"
    effort = world.call("db.effort.get", effort_id=session(world, above).effort_id)
    assert (effort.lifecycle, effort.outcome, effort.holder) == ("finished", "success", None)


@pytest.mark.requirement("R243")
def test_the_end_of_a_session_leaves_an_effort_that_somebody_gave_it(world: World) -> None:
    before = world.session("plan", agent_id="ada")
    hook(world, "session_start", agent="ada")
    hook(world, "session_end")
    effort = world.call("db.effort.get", effort_id=before.effort_id)
    assert (effort.lifecycle, effort.holder) == ("active", "ada")


@pytest.mark.requirement("R243")
def test_a_session_that_ended_goes_on_when_its_program_opens_it_again(world: World) -> None:
    first = start(world)
    hook(world, "session_end")
    hook(world, "session_start", source="resume", pid=7)
    again = session(world, first)
    assert (again.ended_at, again.pid, again.agent_id) == (None, 7, f"claude:{WINDOW}")
    effort = world.call("db.effort.get", effort_id=again.effort_id)
    assert (effort.lifecycle, effort.ordinal, effort.holder) == ("active", 1, again.agent_id)


@pytest.mark.requirement("R243")
def test_however_often_a_session_ends_and_goes_on_it_has_one_effort(world: World) -> None:
    first = start(world)
    for is_heard in (True, False, True):
        if is_heard:
            hook(world, "session_end")
        hook(world, "user_prompt", prompt="and on")
    (effort,) = world.call("db.effort.list", task_id="/shop/.ramet/adhoc").items
    assert (effort.lifecycle, effort.outcome, session(world, first).effort_id) == ("active", None, effort.id)
    assert len(world.call("events.list", kind="effort.reopened").items) == 2


@pytest.mark.requirement("R243")
def test_a_session_that_outlives_the_effort_somebody_gave_it_goes_on_with_a_light_one(world: World) -> None:
    before = world.session("plan", agent_id="ada")
    first = hook(world, "session_start", agent="ada").session_id
    hook(world, "session_end")
    world.call("db.effort.finish", effort_id=before.effort_id)
    for _ in range(2):
        hook(world, "session_start", source="resume", agent="ada")
        hook(world, "session_end")
    efforts = world.call("db.effort.list", task_id=before.task_id).items
    assert [each.skill for each in efforts] == ["plan", "do"]
    assert session(world, first).effort_id == efforts[1].id


def test_a_hook_that_comes_late_does_not_open_what_has_ended(world: World) -> None:
    first = start(world)
    hook(world, "session_end")
    for moment in ("post_tool_use", "stop", "notification", "session_end", "subagent_stop", "status_line"):
        hook(world, moment, tool="Bash")
    assert session(world, first).ended_at is not None
