"""A start that no daemon heard: what the agent would have been told then, it is told at the next hook that can tell."""

from typing import Any

import pytest
from tests.conformance.hook_calls import PROJECT, WINDOW, directive, event, hook, start
from tests.world import World

STANDARDS = {"standards": [directive("/shop/STANDARDS.md", "Prices are cents.")]}
CONTRACT = "<ramet-resume-contract"


def told(world: World, moment: str, *, facts: dict[str, Any] | None = None, **said: Any) -> str:
    """What an agent is told at a hook."""
    return hook(world, moment, facts={**STANDARDS, **(facts or {})}, **said).answer.context or ""


def process(pid: int) -> dict[str, Any]:
    return {"process": {"pid": pid, "started": float(pid)}}


@pytest.mark.requirement("R367")
@pytest.mark.parametrize("moment", ["user_prompt", "post_tool_use"])
def test_a_session_whose_start_was_missed_is_told_its_rules_once(world: World, moment: str) -> None:
    said: dict[str, Any] = {"prompt": "mend it", "prompt_id": "p1", "tool": "Bash", "tool_use_id": "t1"}
    assert told(world, "pre_tool_use", **said) == "", "not every program takes it there"
    assert "Prices are cents." in told(world, moment, **said)
    assert told(world, moment, **said) == ""


@pytest.mark.requirement("R367")
def test_a_session_whose_start_was_heard_is_told_its_rules_then(world: World) -> None:
    assert "Prices are cents." in told(world, "session_start", source="startup")
    assert told(world, "user_prompt", prompt="mend it") == ""


@pytest.mark.requirement("R367")
def test_a_session_that_was_resumed_while_no_daemon_was_there_gets_its_contract(world: World) -> None:
    start(world)
    hook(world, "session_end", reason="exit")
    contract = told(world, "user_prompt", prompt="go on", prompt_id="p2")
    assert CONTRACT in contract
    assert "mend the cart" in contract
    assert told(world, "user_prompt", prompt="and on", prompt_id="p3") == ""


@pytest.mark.requirement("R367")
def test_a_session_that_is_open_in_another_process_gets_its_contract(world: World) -> None:
    """Its program was killed with the machine, and nobody has noticed yet."""
    start(world, pid=10, facts=process(10))
    assert CONTRACT in told(world, "user_prompt", prompt="go on", prompt_id="p2", pid=20, facts=process(20))
    assert told(world, "user_prompt", prompt="and on", prompt_id="p3", pid=20, facts=process(20)) == ""


def test_a_shell_that_calls_the_hook_is_not_another_process(world: World) -> None:
    start(world, pid=10, facts=process(10))
    for shell in (21, 22):
        assert CONTRACT not in told(world, "user_prompt", prompt=f"{shell}", pid=shell, facts=process(10))


@pytest.mark.requirement("R367")
def test_the_machine_is_asked_for_what_a_start_is_told(world: World) -> None:
    start(world)
    hook(world, "session_end", reason="exit")
    hook(world, "pre_tool_use", tool="Bash", tool_use_id="t1")
    said = event("post_tool_use", tool="Bash", tool_use_id="t1")
    assert world.call("hooks.record", event=said).wants_facts
    reply = world.call("hooks.record", event=said, facts={"project": PROJECT, **STANDARDS})
    assert CONTRACT in (reply.answer.context or "")


@pytest.mark.requirement("R367")
def test_a_start_after_a_compaction_that_got_no_answer_is_made_up_for(world: World) -> None:
    start(world)
    assert "Prices" in told(world, "session_start", source="compact")
    world.call("hooks.record", event=event("other", name="gap", source="compact"))
    missed = told(world, "user_prompt", prompt="go on", prompt_id="p2")
    assert CONTRACT in missed
    assert "Prices are cents." in missed, "its context has lost them"
    assert told(world, "user_prompt", prompt="and on", prompt_id="p3") == ""


@pytest.mark.requirement("R367")
def test_a_start_that_is_heard_after_all_makes_up_for_the_missed_one(world: World) -> None:
    start(world)
    world.call("hooks.record", event=event("other", name="gap", source="compact"))
    assert CONTRACT in told(world, "session_start", source="resume")
    assert told(world, "user_prompt", prompt="go on", prompt_id="p2") == ""


def test_a_sub_agent_is_not_told_what_its_parent_missed(world: World) -> None:
    hook(world, "user_prompt", prompt="mend it", native_id=WINDOW)
    world.call("hooks.record", event=event("other", name="gap", source="compact"))
    within: dict[str, Any] = {"agent_id": "a1", "agent_type": "Explore", "tool": "Bash", "tool_use_id": "t1"}
    assert told(world, "post_tool_use", **within) == ""
    assert CONTRACT in told(world, "user_prompt", prompt="go on", prompt_id="p2")
