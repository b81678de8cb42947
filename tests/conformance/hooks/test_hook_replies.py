"""What the operations of the hooks take and answer is what they say."""

from typing import Any

import pytest
from tests.conformance.hook_calls import (
    entry,
    hook,
    ingest,
    messages,
    start,
)
from tests.world import World

from ramet.errors import InvalidParams


def test_a_session_that_ended_without_a_hand_off_has_no_commit_of_one(world: World) -> None:
    above = start(world)
    hook(world, "session_end")
    late = world.call("db.session.handoff", session_id=above, summary="half")
    assert (late.commit, late.already) == (None, True)


@pytest.mark.requirement("R242")
def test_a_prompt_that_the_transcript_had_first_is_answered_with_its_message(world: World) -> None:
    above = start(world)
    ingest(world, above, entry("u1", "mend the cart", role="user"), entry("u2", "and the till", role="user"))
    noted = world.call("hooks.userPrompt", session_id=above, prompt="and the till")
    assert [text for _, text in messages(world, above)] == ["mend the cart", "and the till"]
    assert noted.message_id == world.call("db.messages.list", session_id=above).items[-1].id


@pytest.mark.requirement("R241", "R243")
@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("postToolUseFailure", {"tool": "Bash", "error": "no"}),
        ("stop", {"text": "done"}),
        ("preCompact", {"trigger": "auto"}),
    ],
)
def test_what_nobody_reads_is_not_taken(world: World, name: str, given: dict[str, Any]) -> None:
    above = start(world)
    with pytest.raises(InvalidParams):
        world.call(f"hooks.{name}", session_id=above, **given)


@pytest.mark.requirement("R241")
def test_what_a_tool_answered_is_taken_as_the_seed_has_it_and_not_kept(world: World) -> None:
    above = start(world)
    world.call("hooks.postToolUse", session_id=above, tool="Bash", result="all of its output")
    assert "all of its output" not in repr(world.dump())
