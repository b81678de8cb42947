"""Agents: stable identities that own at most one effort; nobody steals."""

from typing import Any

import pytest
from tests.world import World

from ramet.errors import AgentBusy, AgentNotFound, EffortHeld

TASK = "/shop/tasks/cart"


@pytest.mark.requirement("R196", "R237", "R254")
def test_registering_an_agent_again_keeps_what_is_not_given(world: World) -> None:
    session = world.session(agent_id="ada")
    first = world.call("db.agents.register", id="ada", label="Ada", claims=["plan", "review"])
    assert (first.label, first.claims, first.effort_id) == ("Ada", ["plan", "review"], session.effort_id)
    assert world.call("db.agents.register", id="ada") == first
    changed = world.call("db.agents.register", id="ada", claims=[])
    assert (changed.label, changed.claims, changed.effort_id) == ("Ada", [], session.effort_id)
    assert world.call("db.agents.get", id="ada") == changed


@pytest.mark.requirement("R237")
def test_agents_are_listed_by_id_with_the_efforts_they_hold(world: World) -> None:
    session = world.session(agent_id="b")
    world.call("db.effort.phase", effort_id=session.effort_id, label="1")
    for agent_id in ("a b", "C", "ab", "a"):
        world.call("db.agents.register", id=agent_id)
    listed = world.call("db.agents.list").items
    assert [agent.id for agent in listed] == ["C", "a", "a b", "ab", "b"]
    assert (listed[-1].skill, listed[-1].current_phase, listed[-1].task_id) == ("implement", "1: Prepare", TASK)


@pytest.mark.requirement("R237", "R253")
def test_an_agent_that_is_not_there_is_named_in_the_refusal(world: World) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [("db.agents.get", {}), ("db.agents.assign", {"effort_id": None})]
    for name, params in calls:
        with pytest.raises(AgentNotFound) as refusal:
            world.call(name, id="nobody", **params)
        assert (refusal.value.field, refusal.value.value) == ("id", "nobody")


@pytest.mark.requirement("R267")
def test_an_effort_that_an_agent_holds_cannot_be_taken_and_the_holder_is_named(world: World) -> None:
    held = world.session(agent_id="ada")
    world.call("db.agents.register", id="bob")
    before = world.dump()
    for name, params in (
        ("db.agents.assign", {"id": "bob"}),
        ("db.session.start", {"task_id": TASK, "agent_id": "bob"}),
        ("db.session.start", {"task_id": TASK, "agent_id": "newcomer"}),
    ):
        with pytest.raises(EffortHeld) as refusal:
            world.call(name, effort_id=held.effort_id, **params)
        assert (refusal.value.field, refusal.value.value) == ("effort_id", held.effort_id)
        assert "'ada'" in refusal.value.message
    assert world.dump() == before


@pytest.mark.requirement("R266")
def test_an_agent_with_an_active_effort_gets_no_second_one(world: World) -> None:
    held = world.session(agent_id="ada")
    other = world.effort("plan")
    before = world.dump()
    for name, params in (
        ("db.agents.assign", {"id": "ada"}),
        ("db.session.start", {"task_id": TASK, "agent_id": "ada"}),
        ("db.session.bindEffort", {"session_id": held.id}),
    ):
        with pytest.raises(AgentBusy) as refusal:
            world.call(name, effort_id=other.id, **params)
        assert refusal.value.value == "ada"
        assert str(held.effort_id) in refusal.value.fix
    assert world.dump() == before


@pytest.mark.requirement("R266", "R224")
def test_finishing_an_effort_frees_its_agent_for_the_next(world: World) -> None:
    first = world.session(agent_id="ada")
    world.call("db.effort.finish", effort_id=first.effort_id)
    assert world.call("db.agents.get", id="ada").effort_id is None
    second = world.session("plan", agent_id="ada")
    assert world.call("db.agents.get", id="ada").effort_id == second.effort_id
    assert "agent.released" in world.events()


@pytest.mark.requirement("R266", "R267")
def test_an_effort_that_was_let_go_can_be_taken(world: World) -> None:
    held = world.session(agent_id="ada")
    world.call("db.agents.register", id="bob")
    assert world.call("db.agents.assign", id="ada", effort_id=None).effort_id is None
    assert world.call("db.agents.assign", id="bob", effort_id=held.effort_id).effort_id == held.effort_id
    assert world.events()[-2:] == ["agent.released", "agent.assigned"]


@pytest.mark.requirement("R254", "R266")
def test_assigning_what_is_held_already_or_letting_go_of_nothing_changes_nothing(world: World) -> None:
    held = world.session(agent_id="ada")
    world.call("db.agents.register", id="bob")
    before = world.dump()
    assert world.call("db.agents.assign", id="ada", effort_id=held.effort_id).effort_id == held.effort_id
    assert world.call("db.agents.assign", id="bob", effort_id=None).effort_id is None
    assert world.dump() == before
