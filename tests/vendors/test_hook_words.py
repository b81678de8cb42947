"""Vendors' payloads in our words, and our answers in theirs: whatever a program sends, and in its own schema."""

import json
import time
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.vendors.hook_payloads import RECORDED, recorded, vendor_of

from ramet.model.hooks.hook import HookAnswer, HookEvent, Moment
from ramet.model.hooks.touched_files import touched_files
from ramet.vendors.claude import hooks as claude
from ramet.vendors.codex import hooks as codex
from ramet.vendors.contract import hook_payload
from ramet.vendors.hook_registry import VENDORS

_COMMON = {"continue", "stopReason", "suppressOutput", "systemMessage"}
_BLOCK = {"decision", "reason"}
_PERMISSION = {"permissionDecision", "permissionDecisionReason", "updatedInput"}

# What the schemas have for the answer of a hook: at the top, and in `hookSpecificOutput`; None: no such object.
_CLAUDE: dict[str, tuple[set[str], set[str] | None]] = {
    "SessionStart": (_COMMON, {"additionalContext", "sessionTitle"}),
    "UserPromptSubmit": (_COMMON | _BLOCK, {"additionalContext", "sessionTitle"}),
    "PreToolUse": (_COMMON | _BLOCK, {"additionalContext", *_PERMISSION}),
    "PostToolUse": (_COMMON | _BLOCK, {"additionalContext", "updatedToolOutput"}),
    "PostToolUseFailure": (_COMMON, {"additionalContext"}),
    "PermissionRequest": (_COMMON, {"decision"}),
    "Notification": (_COMMON, {"additionalContext"}),
    "SubagentStart": (_COMMON, {"additionalContext"}),
    "Stop": (_COMMON | _BLOCK, None),
    "SubagentStop": (_COMMON | _BLOCK, None),
}
_CODEX: dict[str, tuple[set[str], set[str] | None]] = {
    "SessionStart": (_COMMON, {"additionalContext"}),
    "UserPromptSubmit": (_COMMON | _BLOCK, {"additionalContext"}),
    "PreToolUse": (_COMMON, {"additionalContext", *_PERMISSION}),
    "PostToolUse": (_COMMON | _BLOCK, {"additionalContext", "updatedMCPToolOutput"}),
    "PermissionRequest": (_COMMON, {"decision"}),
    "SubagentStart": (_COMMON, {"additionalContext"}),
    "Stop": (_COMMON | _BLOCK, None),
    "SubagentStop": (_COMMON | _BLOCK, None),
}
_SCHEMAS = {"claude": _CLAUDE, "codex": _CODEX}

_ANSWERS = {
    "nothing": HookAnswer(),
    "context": HookAnswer(context="read AGENTS.md first"),
    "refusal": HookAnswer(is_blocked=True, reason="log what you did: `ramet note`"),
    "everything": HookAnswer(is_blocked=True, reason="no", context="c", notice="n"),
    "no reason": HookAnswer(is_blocked=True, reason=" "),
}


def check_schema(event: HookEvent, output: Any) -> None:
    """Fail unless the vendor's program would accept it."""
    top, inner = _SCHEMAS[event.vendor].get(event.name, (_COMMON, None))
    assert isinstance(output, dict)
    assert output.keys() <= top | ({"hookSpecificOutput"} if inner is not None else set())
    if "decision" in output:
        assert output["decision"] == "block"
        assert output["reason"].strip()
    if (specific := output.get("hookSpecificOutput")) is not None and inner is not None:
        assert specific.keys() <= {"hookEventName"} | inner
        assert specific["hookEventName"] == event.name
        check_refusal(specific)
    json.dumps(output)


def check_refusal(specific: dict[str, Any]) -> None:
    if "permissionDecision" in specific:
        assert specific["permissionDecision"] == "deny"
        assert specific["permissionDecisionReason"].strip()
    if "decision" in specific:
        assert specific["decision"]["behavior"] == "deny"
        assert specific["decision"]["message"].strip()


def read(name: str) -> HookEvent:
    return VENDORS[vendor_of(name)].read(recorded(name))


@pytest.mark.requirement("R243")
@pytest.mark.parametrize("name", RECORDED)
def test_every_recorded_payload_is_an_event_that_says_who_and_where(name: str) -> None:
    event, said = read(name), recorded(name)
    assert msgspec.convert(msgspec.to_builtins(event), HookEvent) == event
    assert (event.vendor, event.name, event.native_id) == (
        vendor_of(name),
        said["hook_event_name"],
        said["session_id"],
    )
    assert (event.cwd, event.transcript_path) == (said["cwd"], said["transcript_path"])
    assert event.moment in get_args(Moment)
    assert (event.moment == "other") == (event.name not in VENDORS[event.vendor].EVENTS)
    assert event.tool == said.get("tool_name")
    assert event.agent_id == said.get("agent_id")


@pytest.mark.requirement("R244")
@pytest.mark.parametrize("answer", _ANSWERS)
@pytest.mark.parametrize("name", RECORDED)
def test_every_recorded_payload_is_answered_in_the_vendor_s_schema(name: str, answer: str) -> None:
    event = read(name)
    output, status = VENDORS[event.vendor].answer(event, _ANSWERS[answer])
    assert status == 0
    if answer == "nothing":
        assert output is None
    if output is not None:
        check_schema(event, output)


@pytest.mark.requirement("R240", "R244")
@pytest.mark.parametrize("name", ["claude/PreToolUse.Bash.json", "codex/PreToolUse.json"])
def test_a_refused_tool_call_is_denied_with_the_reason(name: str) -> None:
    event = read(name)
    output, _ = VENDORS[event.vendor].answer(event, HookAnswer(is_blocked=True, reason="log first", context="more"))
    assert output == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "log first",
            "additionalContext": "more",
        }
    }


@pytest.mark.requirement("R244")
@pytest.mark.parametrize("name", ["claude/PreToolUse.Bash.json", "codex/PreToolUse.json"])
def test_a_tool_call_that_may_go_on_is_not_waved_past_the_user_s_own_permissions(name: str) -> None:
    event = read(name)
    output, _ = VENDORS[event.vendor].answer(event, HookAnswer(context="by the way"))
    assert isinstance(output, dict)
    assert "permissionDecision" not in output["hookSpecificOutput"]


@pytest.mark.requirement("R241")
def test_what_a_tool_did_is_read_without_its_result_which_nobody_needs() -> None:
    event = read("claude/PostToolUse.Read.json")
    assert (event.moment, event.tool) == ("post_tool_use", "Read")
    assert touched_files(event) == ["/home/dev/project/out.txt"]
    assert "written by script" not in repr(event)
    assert read("claude/PostToolUseFailure.Bash.json").moment == "post_tool_use_failure"


@pytest.mark.requirement("R242", "R244")
def test_a_sub_agent_s_transcript_is_not_its_session_s() -> None:
    thread = "01a1e075-3c97-7810-8db7-695eb82f6414"
    own, above = (
        f"/home/dev/rollout-2026-11-15T18-25-42-{thread}.jsonl",
        "/home/dev/rollout-2026-11-15T18-25-41-01.jsonl",
    )
    said = recorded("codex/PreToolUse.json") | {"agent_id": thread, "agent_type": "default", "transcript_path": own}
    event = codex.read(said)
    assert (event.transcript_path, event.agent_transcript_path) == (None, own)
    event = codex.read(said | {"transcript_path": above, "agent_transcript_path": own})
    assert (event.transcript_path, event.agent_transcript_path) == (above, own)


@pytest.mark.parametrize("vendor", ["claude", "codex"])
def test_a_prompt_is_read_with_its_id_and_what_it_is_answered_stays_short(vendor: str) -> None:
    event = read(f"{vendor}/UserPromptSubmit.json")
    said = recorded(f"{vendor}/UserPromptSubmit.json")
    assert event.prompt == said["prompt"]
    assert event.prompt_id == said.get("prompt_id", said.get("turn_id"))
    output, _ = VENDORS[vendor].answer(event, HookAnswer(context="x" * 100_000))
    assert isinstance(output, dict)
    assert len(output["hookSpecificOutput"]["additionalContext"]) <= 9000


def test_the_files_of_a_patch_are_those_that_it_names() -> None:
    event = read("codex/PostToolUse.apply_patch.json")
    assert touched_files(event) == ["/home/dev/project/out.txt"]


def test_a_compaction_and_a_sub_agent_say_what_they_left_but_not_what_an_agent_answered() -> None:
    assert read("claude/PostCompact.json").summary == "Just a plain answer."
    assert read("claude/SessionStart.compact.json").source == "compact"
    assert "Done: hi was printed." not in repr(read("codex/Stop.json"))
    assert read("claude/SubagentStop.json").summary == "Sub task result: from-subagent."


def test_a_summariser_of_the_program_s_own_is_no_sub_agent() -> None:
    said = recorded("claude/SubagentStop.json") | {"agent_type": ""}
    event = claude.read(said)
    assert (event.moment, event.agent_id) == ("other", None)


def test_an_agent_that_was_kept_from_stopping_once_may_stop() -> None:
    refusal = HookAnswer(is_blocked=True, reason="finish the tests")
    first, again = read("claude/Stop.json"), read("claude/Stop.active.json")
    assert claude.answer(first, refusal) == ({"decision": "block", "reason": "finish the tests"}, 0)
    assert claude.answer(again, refusal) == (None, 0)


def test_what_cannot_be_refused_is_told_to_the_person() -> None:
    output, _ = claude.answer(read("claude/SessionEnd.other.json"), HookAnswer(is_blocked=True, reason="wait"))
    assert output == {"systemMessage": "wait"}


def test_a_status_line_says_the_cost_and_the_context_and_is_answered_with_a_text() -> None:
    said = {
        "session_id": "s",
        "cwd": "/p",
        "model": {"id": "m", "display_name": "M"},
        "cost": {"total_cost_usd": 0.5},
        "context_window": {"context_window_size": 200_000, "used_percentage": 12.5},
    }
    event = claude.read(said)
    assert event.moment == "status_line"
    assert event.usage == {"cost_usd": 0.5, "context_percent": 12.5, "context_tokens": 200_000}
    assert claude.answer(event, HookAnswer(notice='[2:impl:P3] "x"\x1b')) == ("[2:impl:P3] x", 0)


@pytest.mark.parametrize("vendor", VENDORS)
def test_hooks_and_fields_of_a_later_version_are_read_as_others(vendor: str) -> None:
    said = {
        "session_id": "s",
        "hook_event_name": "DreamStart",
        "cwd": "/p",
        "dreams": [{"deep": True}],
        "source": "sleep",
    }
    event = VENDORS[vendor].read(said)
    assert (event.moment, event.name, event.native_id, event.source) == ("other", "DreamStart", "s", None)
    assert VENDORS[vendor].answer(event, HookAnswer(context="c")) == (None, 0)


@pytest.mark.parametrize("name", RECORDED)
def test_a_payload_that_was_cut_short_still_says_what_it_is_about(name: str) -> None:
    whole = json.dumps(recorded(name))
    for length in range(0, len(whole), 7):
        VENDORS[vendor_of(name)].read(hook_payload.parse(whole[:length]))
    event = VENDORS[vendor_of(name)].read(hook_payload.parse(whole[:-1]))
    assert (event.name, event.native_id) == (read(name).name, read(name).native_id)


def test_a_field_inside_a_text_is_not_taken_for_one_of_the_payload() -> None:
    said = {"session_id": "mine", "prompt": '{"session_id": "other", "hook_event_name": "Stop"}'}
    event = claude.read(hook_payload.parse(json.dumps(said)[:-1]))
    assert (event.native_id, event.name) == ("mine", "unknown")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        '"text"',
        "{" * 10_000,
        '{"a":' * 5_000,
        "\x00\x01",
        '{"session_id": {"a": 1}, "cwd": 7, "hook_event_name": ["Stop"], "tool_name": null}',
        '{"session_id": "a\\u0000b", "hook_event_name": "Stop\\n", "cwd": "relative/../path"}',
    ],
)
@pytest.mark.parametrize("vendor", VENDORS)
def test_a_payload_that_is_none_is_some_event_of_nobody_s(vendor: str, text: str) -> None:
    event = VENDORS[vendor].read(hook_payload.parse(text))
    assert (event.moment, event.native_id, event.cwd) == ("other", "", None)
    assert event.name == "unknown"


def test_half_a_character_is_replaced_and_the_rest_is_kept() -> None:
    event = claude.read(
        hook_payload.parse('{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"a\\ud83db\\u0000"}')
    )
    assert event.moment == "user_prompt"
    assert event.prompt is not None
    event.prompt.encode()
    assert event.prompt[0] == "a"
    assert "\x00" not in event.prompt


def test_paths_lead_where_they_say() -> None:
    event = claude.read({"session_id": "s", "hook_event_name": "Stop", "cwd": "/p/../q", "transcript_path": "~/x"})
    assert (event.cwd, event.transcript_path) == ("/q", None)
    event = claude.read({"session_id": "s", "hook_event_name": "Stop", "cwd": "//", "transcript_path": "//x/.."})
    assert (event.cwd, event.transcript_path) == ("/", None)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
_fields = st.sampled_from(
    [
        *("session_id", "hook_event_name", "cwd", "transcript_path", "agent_id", "agent_type", "source", "model"),
        *("prompt", "prompt_id", "turn_id", "tool_name", "tool_input", "tool_response", "error", "trigger", "reason"),
        *("message", "last_assistant_message", "stop_hook_active", "context_window", "cost"),
    ]
)


@given(said=st.dictionaries(_fields, _json | st.sampled_from([*claude.EVENTS, "/p"])), blocked=st.booleans())
def test_whatever_the_fields_hold_there_is_an_event_and_a_valid_answer(said: dict[str, Any], blocked: bool) -> None:
    for module in (claude, codex):
        event = module.read(said)
        output, status = module.answer(event, HookAnswer(is_blocked=blocked, reason="r", context="c"))
        touched_files(event)
        assert status == 0
        if output is not None:
            check_schema(event, output)


@pytest.mark.parametrize(
    "given", ["*** Add File: x" + " " * 900_000 + "y", "*** Add File: " + " " * 900_000, "*** " * 9000]
)
def test_a_patch_without_measure_is_read_in_no_time(given: str) -> None:
    event = HookEvent(
        vendor="codex",
        moment="post_tool_use",
        name="x",
        native_id="s",
        tool="apply_patch",
        cwd="/p",
        tool_input={"command": given + "\n*** Move to: b c.py  \n"},
    )
    start = time.monotonic()
    assert touched_files(event) == ["/p/b c.py"]
    assert time.monotonic() - start < 5
