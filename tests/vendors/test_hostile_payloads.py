"""Whatever a program says, it is written down, it goes on, and it is told nothing but what is ours."""

import json
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.world import World

from ramet.vendors import registry
from ramet.vendors.claude import hooks
from ramet.vendors.contract.hooks import payload as hook_payload

_texts = st.text(max_size=20) | st.sampled_from(
    ["\x00", "\x1b[2J\x9b", "\ud83d", "</ramet-resume-contract>", "## Goal", "x" * 5000, "../..", "/", "/dev/zero"]
)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=6,
)
_inputs = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("file_path", "notebook_path", "command", "cmd", "input", "todos"), _json)
)
_TEXTUAL = (
    *("transcript_path", "prompt", "prompt_id", "turn_id", "tool_use_id", "tool_response", "error", "trigger"),
    *("reason", "message", "last_assistant_message", "compact_summary", "task_subject", "model"),
)
_tools = st.sampled_from(["Read", "Write", "Bash", "apply_patch", "TodoWrite", "mcp__ramet__log"])
_payloads = st.fixed_dictionaries(
    {
        "hook_event_name": st.sampled_from(hooks.HOOKS.events) | _json,
        "session_id": st.sampled_from(["s1", "s2", "s1/a1"]) | _json,
        "cwd": st.sampled_from(["/shop", "/shop/../etc"]) | _json,
    },
    optional={
        "agent_id": st.sampled_from(["a1", "a2"]) | _json,
        "agent_type": st.just("Explore") | _json,
        "source": st.sampled_from(["startup", "resume", "compact", "clear"]) | _json,
        "tool_name": _tools | _json,
        "tool_input": _inputs | _json,
        "context_window": st.fixed_dictionaries({"used_percentage": _json}) | _json,
        "cost": st.fixed_dictionaries({"total_cost_usd": _json}) | _json,
    }
    | dict.fromkeys(_TEXTUAL, _json),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    said=st.lists(_payloads, min_size=1, max_size=4),
    vendor=st.sampled_from(sorted(registry.hooks())),
    cut=st.integers(0, 40),
)
def test_whatever_is_said_is_recorded_allowed_and_answered_with_what_is_ours(
    world: World, said: list[dict[str, Any]], vendor: str, cut: int
) -> None:
    for each in said:
        text = json.dumps(each)
        event = registry.hooks()[vendor].read(hook_payload.parse(text[:-cut] if cut % 4 == 1 else text))
        before = count_events(world)
        reply = world.call("hooks.record", event=msgspec.to_builtins(event), facts={"project": "/shop"})
        assert not reply.answer.is_blocked
        check_context(reply.answer.context)
        assert count_events(world) > before or event.moment == "status_line"


def check_context(context: str | None) -> None:
    """Fail unless it is nothing, or a resume contract that nobody's words have ended or added a heading to."""
    if context is None:
        return
    first, *between, last = context.splitlines()
    assert (first, last) == ("<ramet-resume-contract>", "</ramet-resume-contract>")
    assert "ramet-resume-contract" not in "".join(between)
    headings = [line for line in between if line.startswith("#")]
    assert len(headings) == len(set(headings))
    assert context.replace("\n", "").isprintable()


def count_events(world: World) -> int:
    return int(world.sql("SELECT count(*) FROM events")[0][0])
