"""Every vendor's hooks: its recorded payloads in our words, and our answers in its own schema."""

import json
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.vendors.hook_payloads import RECORDED, read, recorded, vendor_of
from tests.vendors.hook_schemas import check_schema

from ramet.model.hooks.hook import HookAnswer, HookEvent, Moment
from ramet.model.hooks.touched_files import touched_files
from ramet.vendors import registry
from ramet.vendors.contract.hooks import payload as hook_payload

ANSWERS = {
    "nothing": HookAnswer(),
    "context": HookAnswer(context="read AGENTS.md first"),
    "refusal": HookAnswer(is_blocked=True, reason="log what you did: `ramet note`"),
    "everything": HookAnswer(is_blocked=True, reason="no", context="c", notice="n"),
    "no reason": HookAnswer(is_blocked=True, reason=" "),
}

each_payload = pytest.mark.parametrize("name", RECORDED)
each_vendor = pytest.mark.parametrize("vendor", registry.names("hooks"))


@each_vendor
def test_the_moments_without_which_nothing_can_be_bound_are_recorded(vendor: str) -> None:
    moments = {read(name).moment for name in RECORDED if vendor_of(name) == vendor}
    assert moments >= {"session_start", "user_prompt", "pre_tool_use", "post_tool_use", "stop", "session_end"}


@pytest.mark.requirement("R243")
@each_payload
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
    assert (event.moment == "other") == (event.name not in registry.hooks()[event.vendor].events)
    assert event.tool == said.get("tool_name")
    assert event.agent_id == said.get("agent_id")


@pytest.mark.requirement("R244")
@pytest.mark.parametrize("answer", ANSWERS)
@each_payload
def test_every_recorded_payload_is_answered_in_the_vendor_s_schema(name: str, answer: str) -> None:
    event = read(name)
    output, status = registry.hooks()[event.vendor].answer(event, ANSWERS[answer])
    assert status == 0
    if answer == "nothing":
        assert output is None
    if output is not None:
        check_schema(event, output)


@pytest.mark.requirement("R240", "R244")
@pytest.mark.parametrize("name", [name for name in RECORDED if read(name).moment == "pre_tool_use"])
def test_a_refused_tool_call_is_denied_with_the_reason(name: str) -> None:
    event = read(name)
    output, _ = registry.hooks()[event.vendor].answer(event, HookAnswer(is_blocked=True, reason="log first"))
    assert "log first" in json.dumps(output)
    assert "deny" in json.dumps(output)


@each_vendor
def test_hooks_and_fields_of_a_later_version_are_read_as_others(vendor: str) -> None:
    said = {
        "session_id": "s",
        "hook_event_name": "DreamStart",
        "cwd": "/p",
        "dreams": [{"deep": True}],
        "source": "sleep",
    }
    event = registry.hooks()[vendor].read(said)
    assert (event.moment, event.name, event.native_id, event.source) == ("other", "DreamStart", "s", None)
    assert registry.hooks()[vendor].answer(event, HookAnswer(context="c")) == (None, 0)


@each_payload
def test_a_payload_that_was_cut_short_still_says_what_it_is_about(name: str) -> None:
    vendor, whole = registry.hooks()[vendor_of(name)], json.dumps(recorded(name))
    for length in range(0, len(whole), 7):
        vendor.read(hook_payload.parse(whole[:length]))
    event = vendor.read(hook_payload.parse(whole[:-1]))
    assert (event.name, event.native_id) == (read(name).name, read(name).native_id)


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
@each_vendor
def test_a_payload_that_is_none_is_some_event_of_nobody_s(vendor: str, text: str) -> None:
    event = registry.hooks()[vendor].read(hook_payload.parse(text))
    assert (event.moment, event.native_id, event.cwd) == ("other", "", None)
    assert event.name == "unknown"


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
_events = sorted({event for each in registry.hooks().values() for event in each.events})


@given(said=st.dictionaries(_fields, _json | st.sampled_from([*_events, "/p"])), blocked=st.booleans())
def test_whatever_the_fields_hold_there_is_an_event_and_a_valid_answer(said: dict[str, Any], blocked: bool) -> None:
    for vendor in registry.hooks().values():
        event = vendor.read(said)
        output, status = vendor.answer(event, HookAnswer(is_blocked=blocked, reason="r", context="c"))
        touched_files(event)
        assert status == 0
        if output is not None:
            check_schema(event, output)
