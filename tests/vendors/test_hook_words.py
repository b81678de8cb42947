"""What single vendors' hooks say and are answered, beyond what holds for all of them (`conformance/test_hooks`)."""

import json
import time

import pytest
from tests.vendors.hook_payloads import read, recorded

from ramet.model.hooks.hook import HookAnswer, HookEvent
from ramet.model.hooks.touched_files import touched_files
from ramet.vendors import registry
from ramet.vendors.claude import hooks as claude
from ramet.vendors.codex import hooks as codex
from ramet.vendors.contract.hooks import payload as hook_payload


@pytest.mark.requirement("R240", "R244")
@pytest.mark.parametrize("name", ["claude/PreToolUse.Bash.json", "codex/PreToolUse.json"])
def test_a_refused_tool_call_is_denied_with_the_reason(name: str) -> None:
    event = read(name)
    output, _ = registry.hooks()[event.vendor].answer(
        event, HookAnswer(is_blocked=True, reason="log first", context="more")
    )
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
    output, _ = registry.hooks()[event.vendor].answer(event, HookAnswer(context="by the way"))
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
    output, _ = registry.hooks()[vendor].answer(event, HookAnswer(context="x" * 100_000))
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


def test_a_field_inside_a_text_is_not_taken_for_one_of_the_payload() -> None:
    said = {"session_id": "mine", "prompt": '{"session_id": "other", "hook_event_name": "Stop"}'}
    event = claude.read(hook_payload.parse(json.dumps(said)[:-1]))
    assert (event.native_id, event.name) == ("mine", "unknown")


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
    start = time.process_time()
    assert touched_files(event) == ["/p/b c.py"]
    assert time.process_time() - start < 5
