"""Which session, effort and project a hook belongs to."""

import pytest
from tests.conformance.hook_calls import (
    OTHER_WINDOW,
    WINDOW,
    event,
    hook,
    session,
    start,
)
from tests.world import World

from ramet.model.hooks.hook import HookAnswer


def test_a_session_started_by_hand_is_known_from_its_first_hook_on(world: World) -> None:
    reply = hook(world, "session_start", source="startup", pid=42)
    found = session(world, f"claude:{WINDOW}")
    assert (reply.session_id, reply.wants_ingest, reply.answer) == (found.id, True, HookAnswer())
    assert (found.pid, found.agent_id, found.parent_session_id) == (42, f"claude:{WINDOW}", None)
    effort = world.call("db.effort.get", effort_id=found.effort_id)
    assert (effort.task_id, effort.skill, effort.lifecycle) == ("/shop/.ramet/adhoc", "do", "active")
    assert effort.holder == f"claude:{WINDOW}"


def test_whichever_hook_comes_first_makes_the_session_and_the_others_find_it(world: World) -> None:
    first = hook(world, "post_tool_use", tool="Bash").session_id
    assert {hook(world, moment, tool="Bash").session_id for moment in ("session_start", "stop", "other")} == {first}
    assert hook(world, "session_start", native_id=OTHER_WINDOW).session_id != first
    assert hook(world, "session_start", vendor="codex").session_id not in (None, first)


def test_a_session_where_no_project_is_known_waits_for_what_the_disk_says(world: World) -> None:
    reply = world.call("hooks.record", event=event("pre_tool_use", tool="Bash"))
    assert (reply.session_id, reply.wants_facts) == (None, True)
    assert world.call("db.counts").sessions == 0
    hook(world, "pre_tool_use", tool="Bash", cwd="/elsewhere/deep", facts={"project": "/elsewhere"})
    assert session(world, f"claude:{WINDOW}").task_id == "/elsewhere/.ramet/adhoc"


def test_the_nearest_registered_project_goes_before_what_the_disk_suggests(world: World) -> None:
    world.call("db.project.upsert", path="/shop/src")
    hook(world, "session_start", facts={"project": "/shop"})
    assert session(world, f"claude:{WINDOW}").task_id == "/shop/src/.ramet/adhoc"


@pytest.mark.parametrize(
    ("directory", "is_repository", "project"),
    [("/home/shop", True, "/home/shop"), ("/home/shop", False, "/home"), ("/home", True, "/home")],
)
def test_a_repository_inside_a_project_is_one_of_its_own(
    world: World, directory: str, is_repository: bool, project: str
) -> None:
    """Somebody may have started an agent in their home once."""
    world.call("db.project.upsert", path="/home")
    facts = {"project": directory, "is_repository": is_repository}
    hook(world, "session_start", cwd="/home/shop/src", facts=facts)
    assert session(world, f"claude:{WINDOW}").task_id == f"{project}/.ramet/adhoc"


def test_an_agent_that_holds_an_effort_works_on_it(world: World) -> None:
    before = world.session("plan", agent_id="ada")
    reply = hook(world, "session_start", agent="ada")
    found = session(world, reply.session_id)
    assert (found.effort_id, found.prev_session_id, found.agent_id) == (before.effort_id, before.id, "ada")
    assert session(world, before.id).ended_at is not None


def test_a_session_that_the_environment_names_wrongly_is_known_by_its_own_name(world: World) -> None:
    for wrong in (4711, "99999999999999999999999", "claude:nobody"):
        assert hook(world, "session_start", session=wrong).session_id == 1


def test_an_emptied_context_goes_on_with_the_effort_of_the_one_before(world: World) -> None:
    before = world.session("plan", agent_id="ada")
    first = hook(world, "session_start", agent="ada", pid=42).session_id
    hook(world, "session_end", reason="clear")
    reply = hook(world, "session_start", source="clear", native_id=OTHER_WINDOW, pid=42)
    found = session(world, reply.session_id)
    assert (found.effort_id, found.prev_session_id) == (before.effort_id, first)
    assert "plan" in reply.answer.context


def test_an_emptied_context_is_over_also_where_nobody_heard_that_it_ended(world: World) -> None:
    first = start(world, pid=42)
    second = hook(world, "session_start", source="clear", native_id=OTHER_WINDOW, pid=42).session_id
    assert (session(world, first).outcome, session(world, second).prev_session_id) == ("success", None)
    assert world.call("db.counts").active_efforts == 1
