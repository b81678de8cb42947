"""Dropped hooks: the transcript says which calls of tools are over when no hook does."""

import pytest
from tests.conformance import queue_worker
from tests.conformance.hook_calls import (
    entry,
    hook,
    ingest,
    session,
    start,
)
from tests.world import World

LATER = "2026-01-05T08:01:00Z"
CALL = entry("u1", "{}", kind="tool_call", tool="Bash", call_id="t1", at=LATER)
RESULT = entry("u2", "cart.py", kind="tool_result", role="tool", call_id="t1", at=LATER)
ANSWER = entry("u3", "It is mended.", at=LATER)


def begin(world: World, *calls: str | None) -> int:
    """A session in which tools are at work, a while ago."""
    above = start(world)
    for call in calls:
        hook(world, "pre_tool_use", tool="Bash", tool_use_id=call)
    world.clock.advance(120)
    return above


def statuses(world: World, of: int) -> tuple[str, str]:
    return world.call("fleet.status").items[0].status, world.call("spawn.tree", session_id=of).items[0].status


def test_a_session_whose_hook_after_a_tool_was_dropped_waits_for_a_person_when_it_has_answered(world: World) -> None:
    above = begin(world, "t1")
    assert statuses(world, above) == ("running", "running")
    ingest(world, above, CALL, RESULT, ANSWER)
    world.clock.advance(10 * 86_400)
    assert statuses(world, above) == ("waiting_person", "waiting_person")
    assert [each.id for each in world.call("fleet.stale").items] == [above]


def test_only_the_calls_whose_results_are_there_are_over(world: World) -> None:
    above = begin(world, "t1", "t2")
    ingest(world, above, CALL, RESULT)
    assert session(world, above).tools_in_flight == ["t2"]
    (noted,) = [each for each in world.call("events.list", limit=1000).items if "returned" in (each.data or {})]
    assert (noted.kind, noted.data["returned"]) == ("session.ingested", 1)


@pytest.mark.parametrize("call", ["t1", None])
def test_an_answer_says_that_all_calls_before_it_are_over(world: World, call: str | None) -> None:
    """Not every program names its calls, and one that is broken off may have no result."""
    above = begin(world, call)
    ingest(world, above, ANSWER)
    assert session(world, above).tools_in_flight is None


def test_what_was_said_before_a_call_leaves_it_at_work(world: World) -> None:
    """A program says what it is about to do, and the hook is faster than whoever reads the file."""
    above = start(world)
    world.clock.advance(120)
    hook(world, "pre_tool_use", tool="Bash", tool_use_id="t1")
    ingest(world, above, entry("u0", "I look first.", at=LATER), CALL)
    assert session(world, above).tools_in_flight == ["t1"]


def test_an_answer_from_a_clock_that_is_wrong_ends_no_call_that_begins_now(world: World) -> None:
    above = start(world)
    hook(world, "pre_tool_use", tool="Bash", tool_use_id="t1")
    ingest(world, above, entry("u0", "I look first.", at="9999-01-01T00:00:00Z"))
    assert session(world, above).tools_in_flight == ["t1"]


def test_the_calls_of_a_kept_agent_are_its_keepers(world: World) -> None:
    attempt = queue_worker.start(world, driver="claude")
    hook(world, "session_start", session=attempt.session.id)
    queue_worker.report(world, attempt, {"kind": "tool_call", "name": "Bash", "call_id": "t1"})
    before = session(world, attempt.session.id).tools_in_flight
    world.clock.advance(120)
    ingest(world, attempt.session.id, CALL, RESULT, ANSWER)
    assert before == session(world, attempt.session.id).tools_in_flight == ["t1"]
