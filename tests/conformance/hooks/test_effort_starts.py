"""What begins an effort by hand is written all at once, or not at all, on every database."""

from typing import Any

import pytest
from tests.world import World

from ramet.errors import AgentBusy, InvalidParams, RametError, SessionNotFound, UnknownSkill, WrongTask

TASK = "/shop/tasks/cart"
STORM = {"phases": ["1: Dialogue Loop", "2: Synthesis"], "next_skills": ["implement"], "directives": ["heartbeat"]}


@pytest.fixture
def shop(world: World) -> World:
    world.call("db.project.upsert", path="/shop")
    return world


def begin(world: World, skill: str = "brainstorm", **params: Any) -> Any:
    if skill == "brainstorm":
        params.setdefault("definition", STORM)
    return world.call("commands.effort.begin", **{"task_id": TASK, "skill": skill, **params})


def hand_started(world: World, native_id: str = "abc") -> int:
    """A session that a hook told of, with no effort of its own."""
    event = {
        "vendor": "claude",
        "moment": "session_start",
        "name": "SessionStart",
        "native_id": native_id,
        "cwd": "/shop",
    }
    return int(world.call("hooks.record", event=event, facts={"project": "/shop"}).session_id)


@pytest.mark.requirement("R247")
def test_the_skill_the_task_the_effort_and_the_session_are_all_there(shop: World) -> None:
    begun = begin(
        shop, title="The cart", agent_id="blue", driver="claude", native_id="abc", directives=["/shop/AGENTS.md"]
    )
    assert (begun.effort.task_id, begun.effort.artifact_prefix) == (TASK, "1_BRAINSTORM")
    assert begun.effort.discovered_directives == ["/shop/AGENTS.md"]
    assert (begun.session.effort_id, begun.session.agent_id, begun.session.native_id) == (1, "blue", "abc")
    assert (begun.phases, begun.next_skills) == (["1: Dialogue Loop", "2: Synthesis"], ["implement"])
    assert shop.call("db.task.find", query="cart").items[0].title == "The cart"
    assert shop.call("db.skills.get", name="brainstorm", project_id=1).directives == ["heartbeat"]


@pytest.mark.requirement("R247", "R276")
@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"skill": "sing"}, UnknownSkill),
        ({"definition": {"phases": ["2: b", "1: a"]}}, InvalidParams),
        ({"session_id": 99}, SessionNotFound),
        ({"agent_id": "busy"}, AgentBusy),
        ({"native_id": "abc"}, InvalidParams),
    ],
)
def test_what_fails_leaves_no_row(shop: World, params: dict[str, Any], error: type[RametError]) -> None:
    other = shop.effort("implement", "/shop/tasks/other")
    shop.call("db.agents.register", id="busy")
    shop.call("db.agents.assign", id="busy", effort_id=other.id)
    before = shop.dump()
    with pytest.raises(error):
        begin(shop, **params)
    assert shop.dump() == before


def test_a_skill_that_says_nothing_new_is_not_written_again(shop: World) -> None:
    begin(shop)
    seen = shop.events()
    begin(shop)
    assert "skill.changed" not in shop.events()[len(seen) :]
    begin(shop, definition={"phases": ["1: Only"]})
    skill = shop.call("db.skills.get", name="brainstorm", project_id=1)
    assert (skill.phases, skill.directives) == (["1: Only"], [])


def test_a_session_goes_on_with_the_next_effort_of_its_task(shop: World) -> None:
    first = begin(shop, agent_id="blue")
    shop.call("db.effort.finish", effort_id=first.effort.id)
    second = begin(shop, "implement", session_id=first.session.id)
    assert (second.session.id, second.session.effort_id, second.effort.ordinal) == (first.session.id, 2, 2)
    assert shop.call("db.agents.get", id="blue").effort_id == 2


def test_a_session_of_another_task_is_refused(shop: World) -> None:
    other = shop.session(task="/shop/tasks/other")
    with pytest.raises(WrongTask):
        begin(shop, session_id=other.id)


@pytest.mark.requirement("R247")
@pytest.mark.parametrize("named_by", ["session_id", "native_id"])
def test_a_session_that_a_person_started_comes_to_the_task(shop: World, named_by: str) -> None:
    session_id = hand_started(shop)
    adhoc = shop.call("db.session.get", session_id=session_id).effort_id
    name = {"session_id": session_id} if named_by == "session_id" else {"driver": "claude", "native_id": "abc"}
    begun = begin(shop, **name)
    assert (begun.session.id, begun.session.task_id, begun.session.ended_at) == (session_id, TASK, None)
    assert shop.call("db.effort.get", effort_id=adhoc).outcome == "success"
    assert shop.call("db.effort.get", effort_id=begun.effort.id).holder == "claude:abc"


def test_secrets_in_what_is_said_are_not_kept(shop: World) -> None:
    key = "sk-ant-" + "a1" * 24
    begun = begin(shop, metadata={"note": key}, title=key)
    assert key not in repr(shop.dump())
    assert begun.effort.metadata != {"note": key}
