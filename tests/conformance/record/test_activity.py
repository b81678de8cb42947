"""What an agent does now: its newest prompt and its newest tool call, in the fleet and in the tree."""

from typing import Any

import pytest
from tests.conformance import hook_calls, queue_worker
from tests.conformance.query_plans import plan
from tests.world import World


def member(world: World) -> Any:
    (found,) = world.call("fleet.status").items
    return found


def row(world: World, session_id: int) -> Any:
    return next(each for each in world.call("spawn.tree", session_id=session_id).items if each.id == session_id)


def asks(key: str, text: str, at: str) -> dict[str, Any]:
    return hook_calls.entry(key, text, role="user", at=at)


def calls(key: str, command: str, at: str) -> dict[str, Any]:
    given = f'{{"command": "{command}"}}'
    return hook_calls.entry(key, given, kind="tool_call", tool="Bash", call_id=key, at=at)


@pytest.mark.requirement("R453")
def test_an_agent_started_by_a_person_shows_its_newest_prompt_and_the_tool_since_then(world: World) -> None:
    session_id = hook_calls.start(world)
    asked = asks("u1", "look around", "2020-01-05T08:00:01Z")
    hook_calls.ingest(world, session_id, asked, calls("c1", "ls", "2020-01-05T08:00:02Z"))
    for seen in (member(world), row(world, session_id)):
        assert (seen.driver_name, seen.is_queued, seen.tool) == ("claude", False, None), "the hook's prompt is newer"
    later = [asks("u2", "fix the cart", "2099-01-05T08:00:01Z"), calls("c2", "make test", "2099-01-05T08:00:02Z")]
    hook_calls.ingest(world, session_id, *later, offset=200)
    for seen in (member(world), row(world, session_id)):
        assert (seen.goal, seen.prompt, seen.tool) == ("look around", "fix the cart", "Bash: make test")


@pytest.mark.requirement("R453")
def test_an_agent_of_the_queue_shows_the_prompt_that_a_person_wrote_and_its_newest_tool(world: World) -> None:
    queue_worker.add(world, "fix the cart")
    attempt = queue_worker.begin(world, queue_worker.claim(world), profile="mine")
    tool = {"kind": "tool_call", "name": "Edit", "input": {"file_path": "/w/e1/shop/cart.py"}, "call_id": "c1"}
    done = {"kind": "tool_result", "output": "ok", "call_id": "c1", "name": "Edit"}
    queue_worker.report(world, attempt, tool, done, queue_worker.text("It is done."))
    for seen in (member(world), row(world, attempt.session.id)):
        assert (seen.driver_name, seen.is_queued) == ("mine", True)
        assert (seen.prompt, seen.tool) == ("fix the cart", "Edit: shop/cart.py")
    queue_worker.complete(world, attempt)
    ended = row(world, attempt.session.id)
    assert (ended.is_queued, ended.prompt, ended.tool) == (True, None, None)


def test_a_programs_own_sub_agent_was_not_given_the_prompt_of_its_parents_effort(world: World) -> None:
    queue_worker.add(world, "fix the cart")
    attempt = queue_worker.begin(world, queue_worker.claim(world), driver="claude", native_id=hook_calls.WINDOW)
    hook_calls.hook(world, "pre_tool_use", agent_id="a1", tool="Bash")
    rows = world.call("spawn.tree", session_id=attempt.session.id).items
    assert [(each.effort_id, each.prompt) for each in rows] == [(1, "fix the cart"), (1, None)]


def test_a_very_long_input_is_not_read_for_the_sake_of_its_first_line(world: World) -> None:
    queue_worker.add(world, "fix the cart")
    attempt = queue_worker.begin(world, queue_worker.claim(world))
    given = {"command": "x" * 300_000}
    queue_worker.report(world, attempt, {"kind": "tool_call", "name": "Bash", "input": given, "call_id": "c1"})
    assert member(world).tool == "Bash"


def test_the_newest_turns_are_found_by_an_index(world: World) -> None:
    for query, more in (("newest_prompts", {}), ("newest_calls", {"turns": 20})):
        found = plan(world, "record/messages", query, ids="[1, 2]", bytes=1000, **more)
        assert "idx_messages" in found, found
