"""Hand-offs: one context window ends, and the next goes on at the same phase with what the first left."""

from typing import Any

import pytest
from tests.conformance.family import as_agent
from tests.conformance.hook_calls import (
    OTHER_WINDOW,
    WINDOW,
    history,
    hook,
    session,
    start,
)
from tests.world import World

from ramet.errors import EffortFinished, EffortHeld, Forbidden, InvalidParams, SessionNotFound

LEFT: dict[str, Any] = {
    "summary": "The wheels are done.",
    "decisions": ["Use lacquer"],
    "failed_approaches": ["Water colours ran"],
    "next_steps": ["Paint the handle"],
    "required_files": ["/shop/colours.md"],
}


@pytest.mark.requirement("R285")
def test_a_hand_off_is_a_boundary_commit_whose_fields_are_the_payload(world: World) -> None:
    above = start(world)
    done = world.call("db.session.handoff", session_id=above, **LEFT)
    assert history(world, above)[-1] == ("session", "The wheels are done.")
    boundary = world.call("history.show", hash=done.commit).content
    ended = session(world, above)
    payload = ended.dehydration_payload
    for name in ("summary", "decisions", "failed_approaches", "next_steps"):
        assert boundary[name] == LEFT[name] == payload[name]
    assert (boundary["session_type"], payload["session_type"]) == ("handoff", "handoff")
    assert (payload["required_files"], payload["commit"]) == (["/shop/colours.md"], done.commit)
    assert (ended.outcome, ended.ended_at is None) == ("success", False)


@pytest.mark.requirement("R285")
def test_what_was_loaded_is_what_the_next_one_reads_where_nothing_else_is_said(world: World) -> None:
    above = world.session("plan").id
    world.call("db.session.updateLoadedFiles", session_id=above, files=["/shop/a", "/shop/b"])
    done = world.call("db.session.handoff", session_id=above, summary="half")
    assert done.session.dehydration_payload["required_files"] == ["/shop/a", "/shop/b"]


@pytest.mark.requirement("R285")
def test_a_second_hand_off_changes_nothing(world: World) -> None:
    above = start(world)
    first = world.call("db.session.handoff", session_id=above, **LEFT)
    before = world.dump()
    again = world.call("db.session.handoff", session_id=above, summary="other")
    assert (again.already, again.commit, again.session) == (True, first.commit, first.session)
    assert world.dump() == before


@pytest.mark.requirement("R285")
def test_the_next_context_window_goes_on_at_the_same_phase(world: World) -> None:
    first = world.session("plan", agent_id="ada")
    world.call("db.effort.phase", effort_id=first.effort_id, label="1")
    world.call("db.session.handoff", session_id=first.id, **LEFT)
    found = world.call("db.session.continue", session_id=first.id, uncommitted=["cart.py"])
    assert (found.session.prev_session_id, found.session.effort_id) == (first.id, first.effort_id)
    assert (found.effort.current_phase, found.session.agent_id) == ("1: Understand", "ada")
    assert found.required_files == ["/shop/colours.md"]
    assert found.dehydration_payload["next_steps"] == ["Paint the handle"]
    for told in ("1: Understand", "Use lacquer", "Water colours ran", "Paint the handle", "cart.py"):
        assert told in found.context


@pytest.mark.parametrize("named", [{"session_id": 1}, {"agent_id": "ada"}, {"task_id": "/shop/tasks/cart"}])
def test_what_goes_on_is_named_by_session_agent_or_task(world: World, named: dict[str, Any]) -> None:
    first = world.session("plan", agent_id="ada")
    child = world.call("hooks.subagentStart", session_id=first.id, subagent_id="a1").session_id
    assert world.call("db.session.continue", **named).session.prev_session_id == first.id
    assert [session(world, each).outcome for each in (first.id, child)] == ["success", "success"]


@pytest.mark.requirement("R248", "R285")
def test_a_window_that_is_open_already_goes_on_with_what_another_left(world: World) -> None:
    first = start(world)
    world.call("db.session.handoff", session_id=first, **LEFT)
    second = start(world, native_id=OTHER_WINDOW)
    below = hook(world, "subagent_start", native_id=OTHER_WINDOW, agent_id="a1").session_id
    light = session(world, second).effort_id
    found = world.call("db.session.continue", session_id=first, driver="claude", native_id=OTHER_WINDOW)
    assert (found.session.id, found.session.prev_session_id, found.session.root_session_id) == (second, first, first)
    assert (found.effort.id, found.effort.holder) == (session(world, first).effort_id, f"claude:{OTHER_WINDOW}")
    assert world.call("db.effort.get", effort_id=light).lifecycle == "finished"
    assert session(world, below).root_session_id == first
    assert "Paint the handle" in found.context
    again = world.call("db.session.continue", session_id=first, driver="claude", native_id=OTHER_WINDOW)
    assert again.session == found.session


@pytest.mark.requirement("R285")
def test_a_window_takes_nothing_from_one_that_began_after_it_or_from_another_agent(world: World) -> None:
    old = start(world)
    new = world.session("plan", agent_id="ada")
    named = {"driver": "claude", "native_id": WINDOW}
    with pytest.raises(InvalidParams):
        world.call("db.session.continue", session_id=new.id, **named)
    other = world.session("plan", task="/shop/tasks/till")
    start(world, native_id=OTHER_WINDOW)
    world.call("db.agents.register", id="bob")
    world.call("db.agents.assign", id="bob", effort_id=other.effort_id)
    before = world.dump()
    with pytest.raises(EffortHeld):
        world.call("db.session.continue", session_id=other.id, driver="claude", native_id=OTHER_WINDOW)
    assert world.dump() == before
    assert session(world, old).ended_at is None


@pytest.mark.requirement("R285")
def test_a_program_that_opens_its_next_window_is_told_what_the_last_left(world: World) -> None:
    first = world.session("plan", agent_id="ada")
    world.call("db.session.handoff", session_id=first.id, **LEFT)
    reply = hook(world, "session_start", source="startup", agent="ada")
    assert session(world, reply.session_id).prev_session_id == first.id
    assert "Paint the handle" in reply.answer.context


@pytest.mark.requirement("R285")
def test_a_program_that_is_started_for_the_next_window_is_told_though_its_effort_is_a_light_one(world: World) -> None:
    first = start(world)
    world.call("db.session.handoff", session_id=first, **LEFT)
    waiting = world.call("db.session.continue", session_id=first).session.id
    reply = hook(world, "session_start", source="startup", native_id=OTHER_WINDOW, session=waiting)
    assert reply.session_id == waiting
    assert "> mend the cart" in reply.answer.context
    assert "- Paint the handle" in reply.answer.context


def test_a_light_effort_is_open_again_when_its_session_goes_on(world: World) -> None:
    first = start(world)
    hook(world, "session_end")
    found = world.call("db.session.continue", session_id=first)
    assert (found.session.prev_session_id, found.effort.id) == (first, session(world, first).effort_id)
    assert found.effort.lifecycle == "active"


def test_nothing_goes_on_of_what_is_over_or_was_never_there(world: World) -> None:
    first = world.session("plan")
    world.call("db.effort.finish", effort_id=first.effort_id)
    with pytest.raises(EffortFinished):
        world.call("db.session.continue", session_id=first.id)
    for named in ({"session_id": 99}, {"agent_id": "nobody"}, {"task_id": "/shop/tasks/till"}):
        with pytest.raises(SessionNotFound):
            world.call("db.session.continue", **named)
    with pytest.raises(InvalidParams):
        world.call("db.session.continue")


def test_an_agent_hands_off_for_itself_and_nobody_else(world: World) -> None:
    mine, other = world.session("plan"), world.session("do", task="/shop/tasks/till")
    with pytest.raises(Forbidden):
        as_agent(world, mine.id, "db.session.handoff", session_id=other.id, summary="x")
    assert as_agent(world, mine.id, "db.session.handoff", session_id=mine.id, summary="x").session.id == mine.id


def test_an_agent_logs_for_itself_and_nobody_else(world: World) -> None:
    mine, other = world.session("plan"), world.session("do", task="/shop/tasks/till")
    assert as_agent(world, mine.id, "hooks.logged", session_id=mine.id).effort_id == mine.effort_id
    with pytest.raises(Forbidden):
        as_agent(world, mine.id, "hooks.logged", session_id=other.id)


def test_a_secret_in_a_hand_off_is_not_kept(world: World) -> None:
    secret = "ghp_" + "a1B2" * 9
    above = start(world)
    world.call("db.session.handoff", session_id=above, summary=f"use {secret}", next_steps=[f"revoke {secret}"])
    assert secret not in repr(world.dump())
