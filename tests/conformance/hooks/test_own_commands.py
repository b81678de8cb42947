"""Which commands are our own, so that the heartbeat gate lets them through, and when it holds again."""

import pytest
from tests.conformance.hook_calls import (
    bound,
    hook,
    session,
    start,
    use,
)
from tests.world import World

from ramet.engine.hooks import gates
from ramet.model.hooks.hook import HookEvent


def is_own(command: str | list[str]) -> bool:
    given = {"command": command}
    event = HookEvent(
        vendor="claude", moment="pre_tool_use", name="PreToolUse", native_id="n", tool="Bash", tool_input=given
    )
    return gates.is_own(event)


@pytest.mark.requirement("R245")
@pytest.mark.parametrize(
    "command",
    [
        "cd src && ramet note 'mended'",
        "cd 'my project' && /opt/venv/bin/ramet ps",
        "ramet note 'first; then | and & more'",
        'ramet note "it\'s $5; the rest\\"s" --phase x',
        "ramet note 'of\ntwo lines with `ticks` and $(more)'",
        "ramet handoff \\\n  done",
        "ramet note x 2>&1",
        ["bash", "-lc", "cd src && ramet note x"],
    ],
)
def test_a_command_of_ours_alone_is_our_own(command: str | list[str]) -> None:
    assert is_own(command)


@pytest.mark.requirement("R245")
@pytest.mark.parametrize(
    "command",
    [
        "ramet --version; rm -rf build",
        "ramet note x && make",
        "ramet note x & make",
        "ramet ps | xargs kill",
        "ramet note x\nmake",
        'ramet note "$(make)"',
        'ramet note "`make`"',
        "ramet note `make` 'x'",
        'ramet note "$(make)" ; rm "x"',
        "ramet note \\'; make \\'",
        "ramet note <(make)",
        "cd src && make",
        "cd $(make) && ramet note x",
        "cd src; make && ramet note x",
        "echo cd src && ramet note x",
        ["bash", "-lc", "ramet note x; make"],
    ],
)
def test_a_command_of_ours_with_another_is_not(command: str | list[str]) -> None:
    assert not is_own(command)


@pytest.mark.requirement("R245")
def test_what_runs_beside_our_own_command_counts_and_is_held(world: World) -> None:
    bound(world, heartbeat=True, heartbeat_block=2)
    above = start(world)
    use(world, times=2, tool_input={"command": "ramet --version; make"})
    assert session(world, above).heartbeat_counter == 2
    assert hook(world, "pre_tool_use", tool="Bash", tool_input={"command": "ramet ps; make"}).answer.is_blocked


@pytest.mark.requirement("R245")
def test_a_session_that_goes_on_after_its_hand_off_is_held_again(world: World) -> None:
    bound(world, heartbeat=True, heartbeat_block=2)
    above = start(world)
    world.call("db.session.handoff", session_id=above, summary="half")
    hook(world, "user_prompt", prompt="go on here", prompt_id="p2")
    use(world, times=2)
    assert hook(world, "pre_tool_use", tool="Bash").answer.is_blocked
