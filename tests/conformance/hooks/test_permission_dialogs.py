"""Permission dialogs: who waits for a person's permission, and until when."""

from typing import Any

import pytest
from tests.conformance.hook_calls import OTHER_WINDOW, entry, hook, ingest, session, start
from tests.world import World

DENIED = entry("r1", "The user does not want this.", kind="tool_result", role="tool", call_id="t1", is_error=True)


def ask(world: World, vendor: str = "claude", **said: Any) -> int:
    """A session at a permission dialog; its id."""
    above = start(world, vendor=vendor)
    named = {"vendor": vendor, "tool": "Bash", **said}
    hook(world, "pre_tool_use", tool_use_id="t1", **named)
    hook(world, "permission_request", **named)
    return above


def statuses(world: World, of: int) -> list[str]:
    """In `ps`, then in `tree`, parents first."""
    tree = world.call("spawn.tree", session_id=of).items
    return [world.call("fleet.status").items[0].status, *(row.status for row in tree)]


@pytest.mark.requirement("R370")
@pytest.mark.parametrize("vendor", ["claude", "codex"])
def test_a_session_at_a_permission_dialog_waits_for_approval_however_long_that_takes(world: World, vendor: str) -> None:
    above = ask(world, vendor)
    assert statuses(world, above) == ["waiting_approval", "waiting_approval"]
    world.clock.advance(86_400)
    assert statuses(world, above) == ["waiting_approval", "waiting_approval"]
    assert session(world, above).permission_tool == "Bash"
    assert world.call("fleet.stale").items == []


@pytest.mark.requirement("R370")
@pytest.mark.parametrize(
    "moment", ["post_tool_use", "post_tool_use_failure", "user_prompt", "stop", "session_start", "pre_compact"]
)
def test_a_dialog_is_over_when_its_tool_has_run_or_the_agent_goes_on_without_it(world: World, moment: str) -> None:
    above = ask(world)
    named: dict[str, Any] = {"tool": "Bash", "tool_use_id": "t1"} if moment.startswith("post_tool") else {}
    hook(world, moment, **named)
    assert statuses(world, above) == ["running", "running"]


@pytest.mark.requirement("R370")
def test_a_refused_tool_ends_its_dialog_when_the_transcript_says_so(world: World) -> None:
    """A person who says no interrupts the agent: no hook tells of it."""
    above = ask(world)
    ingest(world, above, entry("c1", "{}", kind="tool_call", tool="Bash", call_id="t1"), DENIED)
    assert statuses(world, above) == ["running", "running"]


def test_other_tools_of_the_same_answer_leave_a_dialog_open(world: World) -> None:
    above = ask(world)
    hook(world, "pre_tool_use", tool="Read", tool_use_id="t2")
    hook(world, "post_tool_use", tool="Read", tool_use_id="t2")
    hook(world, "notification", reason="permission_prompt", text="Claude needs your permission")
    assert statuses(world, above)[0] == "waiting_approval"


def test_a_program_that_tells_of_a_dialog_only_by_a_notification_waits_too(world: World) -> None:
    above = start(world)
    hook(world, "notification", reason="idle_prompt", text="Claude is waiting for your input")
    hook(world, "notification", reason="permission_prompt", text="left over from the turn before")
    assert statuses(world, above)[0] == "running"
    hook(world, "pre_tool_use", tool="Bash", tool_use_id="t1")
    hook(world, "notification", reason="permission_prompt", text="Claude needs your permission to use Bash")
    assert statuses(world, above)[0] == "waiting_approval"


@pytest.mark.requirement("R370")
def test_a_dialog_of_a_sub_agent_is_shown_for_its_agent_too(world: World) -> None:
    above = ask(world, agent_id="a1")
    assert statuses(world, above) == ["waiting_approval", "running", "waiting_approval"]


def test_a_session_that_is_opened_again_has_no_dialog_and_others_never_had_one(world: World) -> None:
    above = ask(world)
    start(world, native_id=OTHER_WINDOW)
    assert [each.status for each in world.call("fleet.status").items] == ["running", "waiting_approval"]
    hook(world, "session_end")
    hook(world, "pre_tool_use", tool="Read", tool_use_id="t3")
    assert session(world, above).permission_tool is None
