"""Sub-agents of agents that Ramet runs: sessions of their own, whoever tells of them, and each thing once."""

from typing import Any

import pytest
from tests.conformance import queue_worker
from tests.conformance.hook_calls import WINDOW, entry, hook, ingest, messages, session
from tests.world import World

CALL = {"kind": "tool_call", "call_id": "c1", "name": "Agent", "input": {"prompt": "Look."}}
LAUNCHED = {"kind": "tool_result", "call_id": "c1", "name": "Agent", "output": "It was started."}
INNER = {"kind": "tool_call", "call_id": "c2", "name": "Bash", "input": {"command": "ls"}}
RESULT = {"kind": "tool_result", "call_id": "c2", "name": "Bash", "output": "two files"}
CHILD = f"claude:{WINDOW}/a1"
ALL_OF_CHILD = [("user", "Look."), ("assistant", '{"command":"ls"}'), ("tool", "two files"), ("assistant", "Two.")]


def below(said: dict[str, Any], agent_id: str = "a1") -> dict[str, Any]:
    return {"kind": "sub_agent", "agent_id": agent_id, "said": said}


def prompt(text: str = "Look.") -> dict[str, Any]:
    return below({"kind": "prompt", "text": text})


def start(world: World) -> Any:
    """An agent whose context window has its name."""
    attempt = queue_worker.start(world, driver="claude")
    queue_worker.report(world, attempt, {"kind": "native_id", "native_id": WINDOW})
    return attempt


def said_by_both() -> list[dict[str, Any]]:
    """An agent and its sub-agent at work at the same time."""
    own, other = queue_worker.text("It looks."), below(queue_worker.text("Two."))
    ended = below({"kind": "end", "outcome": "success", "answer": "Two."})
    return [CALL, prompt(), LAUNCHED, below(INNER), own, below(RESULT), other, ended, queue_worker.text("Done.")]


def report_each(world: World, attempt: Any, events: list[dict[str, Any]]) -> None:
    for number, event in enumerate(events):
        queue_worker.report(world, attempt, event, seq=number + 2)


@pytest.mark.requirement("R368")
@pytest.mark.parametrize("at_once", [False, True])
def test_a_sub_agent_is_a_child_session_and_its_parent_has_the_context_that_existed(
    world: World, at_once: bool
) -> None:
    attempt = start(world)
    if at_once:
        queue_worker.report(world, attempt, *said_by_both(), seq=2)
    else:
        report_each(world, attempt, said_by_both())
    child = session(world, CHILD)
    assert (child.parent_session_id, child.effort_id) == (attempt.session.id, attempt.effort.id)
    assert (child.outcome, child.notes) == ("success", "Two.")
    assert messages(world, child.id) == ALL_OF_CHILD
    context = world.call("history.compile", branch=attempt.session.branch).messages
    assert [each["content"] for each in context][-3:] == ["It was started.", "It looks.", "Done."]
    assert "two files" not in str(context)


@pytest.mark.requirement("R368")
def test_a_sub_agent_is_recorded_once_if_hooks_and_its_transcript_tell_of_it_too(world: World) -> None:
    attempt = start(world)
    events, named = said_by_both(), {"session": attempt.session.id, "agent_id": "a1"}
    report_each(world, attempt, events[:2])
    hook(world, "subagent_start", agent_type="general-purpose", **named)
    hook(world, "pre_tool_use", tool="Bash", tool_use_id="c2", **named)
    for number, event in enumerate(events[2:6]):
        queue_worker.report(world, attempt, event, seq=number + 4)
    hook(world, "post_tool_use", tool="Bash", tool_use_id="c2", **named)
    used = {"input_tokens": 5}
    read = [entry("u1", "Look.", role="user"), entry("u2", "two files", kind="tool_result"), entry("u3", "Two.")]
    usage = entry("usage/m1", kind="usage", usage=used)
    path = "/t/agent-a1.jsonl"
    ingest(world, attempt.session.id, *read, usage, path=path, agent_id="a1", counts_subagents=True)
    hook(world, "subagent_stop", agent_type="general-purpose", summary="Two.", **named)
    for number, event in enumerate(events[6:]):
        queue_worker.report(world, attempt, event, seq=number + 8)
    assert world.call("db.counts").sessions == 2
    assert messages(world, CHILD) == ALL_OF_CHILD
    assert [row.tokens for row in world.call("spawn.tree", session_id=attempt.session.id).items] == [0, 0]
    assert session(world, CHILD).outcome == "success"


@pytest.mark.requirement("R368")
def test_a_sub_agent_at_work_is_running_and_ends_with_its_agent(world: World) -> None:
    attempt = start(world)
    queue_worker.report(world, attempt, prompt(), below(INNER), seq=2)
    rows = world.call("spawn.tree", session_id=attempt.session.id).items
    assert [(row.status, row.tool) for row in rows][1] == ("running", "Bash: ls")
    assert session(world, CHILD).tools_in_flight == ["c2"]
    queue_worker.report(world, attempt, queue_worker.end(), seq=4)
    queue_worker.complete(world, attempt.effort)
    assert session(world, CHILD).ended_at is not None


def test_a_sub_agent_that_is_asked_again_goes_on(world: World) -> None:
    attempt = start(world)
    queue_worker.report(world, attempt, *said_by_both(), seq=2)
    queue_worker.report(world, attempt, prompt("And the rest?"), seq=20)
    assert session(world, CHILD).ended_at is not None
    queue_worker.report(world, attempt, prompt("And the rest?"), seq=11)
    assert session(world, CHILD).ended_at is None
    assert messages(world, CHILD)[-1] == ("user", "And the rest?")


def test_what_the_program_says_itself_is_no_output_of_a_tool(world: World) -> None:
    attempt = start(world)
    queue_worker.report(
        world, attempt, {"kind": "note", "text": "API Error: 529"}, {"kind": "remark", "text": "warn"}, seq=2
    )
    found = world.call("db.messages.list", session_id=attempt.session.id).items[-2:]
    assert [(each.role, each.tool_name, each.content) for each in found] == [
        ("system", None, "API Error: 529"),
        ("tool", "stderr", "warn"),
    ]


@pytest.mark.parametrize("agent_id", ["", "\0", "../x", "a" * 10_000, "é/'"])
def test_a_hostile_name_of_a_sub_agent_breaks_nothing(world: World, agent_id: str) -> None:
    attempt = start(world)
    queue_worker.report(world, attempt, below({"kind": "prompt", "text": "Look."}, agent_id), seq=2)
    assert world.call("db.counts").sessions == 2
    assert world.call("db.check").passed
