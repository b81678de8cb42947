"""Hooks are called wherever their user works; only sessions inside registered projects are recorded."""

from typing import Any

import pytest
from tests.conformance.hook_calls import OTHER_WINDOW, PROJECT, WINDOW, event, hook
from tests.world import World

NOTHING: list[Any] = []


def record(world: World, moment: str = "session_start", *, facts: dict[str, Any] | None = None, **said: Any) -> Any:
    """One hook, as a daemon records it that keeps to registered projects."""
    more = {name: said.pop(name) for name in ("session", "agent") if name in said}
    told = {"project": "/elsewhere", **(facts or {})}
    return world.call("hooks.record", event=event(moment, **said), facts=told, only_registered=True, **more)


def count_events(world: World) -> int:
    return len(world.call("events.list", limit=1000).items)


@pytest.mark.requirement("R366")
@pytest.mark.parametrize("moment", ["session_start", "user_prompt", "pre_tool_use", "post_tool_use", "stop"])
def test_outside_registered_projects_nothing_is_answered_and_nothing_is_stored(world: World, moment: str) -> None:
    world.call("db.project.upsert", path=PROJECT)
    before = count_events(world)
    directives = [{"path": "/elsewhere/AGENTS.md", "text": "Two spaces.", "hash": "1"}]
    reply = record(world, moment, cwd="/elsewhere/src", prompt="hello", tool="Bash", facts={"standards": directives})
    assert (reply.is_ignored, reply.session_id, reply.answer.context) == (True, None, None)
    unbound = world.call("hooks.record", event=event("other", native_id="", cwd="/elsewhere"), only_registered=True)
    assert unbound.is_ignored
    assert count_events(world) == before
    assert world.call("db.query", sql="SELECT id FROM sessions").rows == NOTHING
    assert [row.path for row in world.call("db.project.list").items] == [PROJECT]


@pytest.mark.requirement("R366")
@pytest.mark.parametrize(
    ("cwd", "project"),
    [
        (PROJECT, PROJECT),
        (f"{PROJECT}/a/b", PROJECT),
        ("/worktrees/side", PROJECT),
        (f"{PROJECT}/vendor/library", f"{PROJECT}/vendor/library"),
    ],
    ids=["itself", "sub-directory", "linked worktree", "repository inside it"],
)
def test_inside_a_registered_project_a_session_is_recorded(world: World, cwd: str, project: str) -> None:
    world.call("db.project.upsert", path=PROJECT)
    reply = record(world, cwd=cwd, source="startup", facts={"project": project, "is_repository": True})
    assert (reply.is_ignored, reply.session_id) == (False, 1)
    assert world.call("db.session.get", session_id=1).task_id == f"{project}/.ramet/adhoc"


@pytest.mark.requirement("R366")
def test_the_machine_is_asked_where_the_repository_is_before_a_session_is_ignored(world: World) -> None:
    world.call("db.project.upsert", path=PROJECT)
    reply = world.call("hooks.record", event=event("session_start", cwd="/worktrees/side"), only_registered=True)
    assert (reply.wants_facts, reply.is_ignored) == (True, False)


@pytest.mark.requirement("R366")
def test_a_session_that_is_known_is_recorded_wherever_it_goes(world: World) -> None:
    hook(world, "session_start", source="startup")
    assert record(world, "user_prompt", cwd="/elsewhere", prompt="hello").session_id == 1
    assert record(world, "subagent_start", cwd="/elsewhere", agent_id="a1", agent_type="Explore").session_id == 2
    below = record(world, native_id=OTHER_WINDOW, cwd="/elsewhere", session=1, source="startup")
    assert world.call("db.session.get", session_id=below.session_id).parent_session_id == 1


@pytest.mark.requirement("R366")
def test_a_project_that_is_registered_in_the_middle_of_a_session_is_recorded_from_then_on(world: World) -> None:
    assert record(world, cwd="/elsewhere").is_ignored
    world.call("db.project.upsert", path="/elsewhere")
    assert record(world, "user_prompt", cwd="/elsewhere", prompt="hello").session_id == 1
    assert world.call("db.session.get", session_id=1).native_id == WINDOW
