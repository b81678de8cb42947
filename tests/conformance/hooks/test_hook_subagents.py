"""The agents inside an agent: each is a child session of the one that started it."""

import pytest
from tests.conformance.hook_calls import (
    WINDOW,
    entry,
    hook,
    ingest,
    session,
    start,
    use,
)
from tests.world import World


@pytest.mark.requirement("R246")
def test_a_sub_agent_is_a_child_session_and_never_ends_its_parent(world: World) -> None:
    above = start(world)
    hook(world, "subagent_start", agent_id="a1", agent_type="Explore")
    child = session(world, f"claude:{WINDOW}/a1")
    assert (child.parent_session_id, child.root_session_id, child.spawn_depth) == (above, above, 1)
    assert (child.effort_id, child.agent_id) == (session(world, above).effort_id, None)
    assert use(world, agent_id="a1").session_id == child.id
    assert (session(world, child.id).heartbeat_counter, session(world, above).heartbeat_counter) == (1, 0)
    hook(world, "subagent_stop", agent_id="a1", agent_type="Explore", summary="three carts")
    ended = session(world, child.id)
    assert (ended.outcome, ended.notes, session(world, above).ended_at) == ("success", "three carts", None)


@pytest.mark.requirement("R246")
def test_sub_agents_are_never_refused_however_deep(world: World) -> None:
    start(world)
    ids = [hook(world, "pre_tool_use", tool="Bash", agent_id=f"a{number}").session_id for number in range(20)]
    assert len(set(ids)) == 20
    assert session(world, f"claude:{WINDOW}").ended_at is None


@pytest.mark.requirement("R246")
def test_the_fleet_shows_an_agent_by_its_own_session_while_its_sub_agents_work(world: World) -> None:
    above = start(world)
    hook(world, "subagent_start", agent_id="a1")
    (member,) = world.call("fleet.status").items
    assert (member.agent, member.session_id) == (f"claude:{WINDOW}", above)


def test_a_sub_agent_that_goes_on_shows_that_its_parent_does(world: World) -> None:
    above = start(world)
    hook(world, "subagent_start", agent_id="a1")
    hook(world, "session_end")
    hook(world, "pre_tool_use", tool="Bash", agent_id="a1")
    assert session(world, above).ended_at is None
    hook(world, "session_end")
    assert world.call("db.counts").active_efforts == 0


def test_a_sub_agent_of_which_we_hear_when_all_is_over_is_over_too_until_it_goes_on(world: World) -> None:
    above = start(world)
    hook(world, "session_end")
    ingest(world, above, entry("s1", "look", role="user"), path="/t/agent-a1.jsonl", agent_id="a1")
    hook(world, "post_tool_use", tool="Bash", agent_id="a2")
    names = [f"claude:{WINDOW}/{name}" for name in ("a1", "a2")]
    assert [session(world, name).outcome for name in names] == ["success", "success"]
    hook(world, "pre_tool_use", tool="Bash", agent_id="a1")
    assert session(world, above).outcome is None
    assert [session(world, name).outcome for name in names] == [None, "success"]


def test_with_a_session_all_that_is_inside_it_ends_however_deep(world: World) -> None:
    child = ingest(world, start(world), path="/t/1.jsonl", agent_id="a1").session_id
    ingest(world, child, path="/t/2.jsonl", agent_id="b1")
    hook(world, "subagent_stop", agent_id="a1")
    hook(world, "session_end")
    assert session(world, f"claude:{WINDOW}/a1/b1").outcome == "success"
    assert world.call("db.counts").active_efforts == 0


@pytest.mark.parametrize("has_stopped", [False, True])
def test_a_sub_agent_serves_what_its_parent_serves(world: World, has_stopped: bool) -> None:
    above = start(world)
    hook(world, "subagent_start", agent_id="a1")
    if has_stopped:
        hook(world, "subagent_stop", agent_id="a1")
    begun = world.call("commands.effort.begin", task_id="/shop/cart", skill="do", title="Cart", session_id=above)
    hook(world, "pre_tool_use", tool="Bash", agent_id="a1")
    child = session(world, f"claude:{WINDOW}/a1")
    assert (child.ended_at, child.effort_id, child.task_id) == (None, begun.effort.id, "/shop/cart")
    hook(world, "session_end")
    assert session(world, child.id).ended_at is not None
    assert world.call("db.counts").active_efforts == 1


def test_a_session_that_has_the_name_of_a_sub_agent_takes_no_effort_from_its_parent(world: World) -> None:
    alone = start(world, native_id=f"{WINDOW}/a1")
    hook(world, "session_end", native_id=f"{WINDOW}/a1")
    above = start(world)
    hook(world, "pre_tool_use", tool="Bash", agent_id="a1")
    assert session(world, alone).effort_id == session(world, above).effort_id
    holders = [agent.id for agent in world.call("db.agents.list").items if agent.effort_id is not None]
    assert holders == [session(world, above).agent_id]
