"""Words of Codex that no recorded stream has."""

import json
from datetime import datetime
from typing import Any

import pytest

from ramet.config.settings import ProfileSettings
from ramet.model.work.stream import (
    End,
    Limit,
    Note,
    Reasoning,
    StreamEvent,
    ToolCall,
    ToolResult,
)
from ramet.vendors import registry
from ramet.vendors.codex.stream import CodexReader
from ramet.vendors.contract.driver_protocol import ProcessExit


def _read(*lines: dict[str, Any], status: int = 1, errors: str = "") -> tuple[list[StreamEvent], End]:
    reader = registry.find_driver("codex").reader(ProfileSettings())
    events = [event for line in lines for event in reader.read(json.dumps(line))]
    return events, reader.conclude(ProcessExit(status=status, signal=None, errors=errors))


def _failed(message: str) -> dict[str, Any]:
    return {"type": "turn.failed", "error": {"message": message}}


@pytest.mark.parametrize(
    ("message", "failure"),
    [
        ("exceeded retry limit, last status: 429 Too Many Requests", "limit"),
        ("You've hit your usage limit. Try again at 11:49 AM.", "limit"),
        ("unexpected status 503 Service Unavailable: busy", "transient"),
        ("stream disconnected before completion", "transient"),
        ("Quota exceeded. Check your plan and billing details.", "limit"),
        ("unexpected status 401 Unauthorized: expired", "limit"),
        ("Your refresh token was revoked. Please log in again.", "limit"),
        ("unexpected status 400 Bad Request: context_length_exceeded", "permanent"),
        ("unexpected status 404 Not Found: no such model", "permanent"),
        ("something else", "unknown"),
    ],
)
def test_failures_are_told_apart_by_their_words(message: str, failure: str) -> None:
    events, end = _read(_failed(message))
    assert (end.failure, end.reason) == (failure, message)
    assert len([event for event in events if isinstance(event, Limit)]) == (failure == "limit")


def test_an_error_after_which_it_goes_on_is_a_note() -> None:
    again = {"type": "error", "message": "Reconnecting... 1/5"}
    events, end = _read(again, {"type": "turn.completed", "usage": {}}, status=0)
    assert events[0] == Note(text="Reconnecting... 1/5")
    assert end.outcome == "success"


def test_a_run_that_ends_in_the_middle_of_a_turn_is_no_success() -> None:
    assert _read({"type": "turn.started"}, status=0)[1].failure == "unknown"
    assert _read(status=2, errors="error: unexpected argument")[1].failure == "permanent"


def test_tools_of_other_servers_are_named_with_their_server() -> None:
    item = {"id": "1", "type": "mcp_tool_call", "server": "tiny", "tool": "add", "arguments": {"a": 1}}
    result = {"content": [{"type": "text", "text": "3"}]}
    events, _ = _read(
        {"type": "item.started", "item": {**item, "status": "in_progress"}},
        {"type": "item.completed", "item": {**item, "status": "completed", "result": result}},
    )
    assert events == [
        ToolCall(call_id="1", name="tiny.add", input={"arguments": {"a": 1}}),
        ToolResult(call_id="1", name="tiny.add", output="3"),
    ]


def test_a_tool_that_is_only_told_when_it_is_done_was_called_too() -> None:
    item = {"id": "1", "type": "file_change", "changes": [{"path": "a", "kind": "add"}], "status": "failed"}
    call, result = _read({"type": "item.completed", "item": item})[0]
    assert isinstance(call, ToolCall)
    assert isinstance(result, ToolResult)
    assert result.is_error


def test_its_list_of_what_to_do_is_a_thought() -> None:
    item = {"id": "1", "type": "todo_list", "items": [{"text": "look", "completed": True}, {"text": "write"}]}
    events, _ = _read({"type": "item.started", "item": item}, {"type": "item.completed", "item": item})
    assert events == [Reasoning(text="[x] look\n[ ] write")]


@pytest.mark.requirement("R372")
@pytest.mark.parametrize("is_turn", [True, False])
def test_a_missing_variable_is_trouble_of_the_account_and_names_the_key_that_lets_it_through(is_turn: bool) -> None:
    said = "Missing environment variable: `OPENROUTER_API_KEY`."
    events, end = _read(*([_failed(said)] if is_turn else []), errors="" if is_turn else f"Error: {said}")
    assert end.failure == "limit"
    assert end.reason is not None
    fix = "OPENROUTER_API_KEY is missing: set it where you run `ramet work`, or add it to work.environment: "
    assert end.reason.startswith(fix)
    assert said in end.reason
    assert len([event for event in events if isinstance(event, Limit)]) == is_turn


LIMIT = "You've hit your usage limit. Upgrade to Pro, or try again at {}."


def local(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone()


@pytest.mark.requirement("R364")
@pytest.mark.parametrize(
    ("said", "heard", "ends"),
    [
        ("10:53 PM", "2026-03-04T18:00:00", "2026-03-04T22:53:00"),
        ("10:53 PM", "2026-03-04T22:53:59", "2026-03-04T22:53:00"),
        ("12:05 AM", "2026-12-31T23:50:00", "2027-01-01T00:05:00"),
        ("12:30 PM", "2026-03-04T12:29:00", "2026-03-04T12:30:00"),
        ("Mar 17th, 2030 5:46 PM", "2026-03-04T18:00:00", "2030-03-17T17:46:00"),
        ("Mar 3rd, 2026 5:46 PM", "2026-03-04T18:00:00", "2026-03-03T17:46:00"),
    ],
)
def test_the_end_of_a_limit_is_the_next_such_time_of_the_local_clock(said: str, heard: str, ends: str) -> None:
    reader = CodexReader(lambda: local(heard))
    (limit,) = reader.read(json.dumps(_failed(LIMIT.format(said))))
    assert isinstance(limit, Limit)
    assert limit.resets_at == local(ends)


@pytest.mark.parametrize("said", ["25:99 PM", "13:00 PM", "Foo 40th, 2030 5:46 PM", "noon", "9" * 400])
def test_an_end_that_is_no_time_is_not_known(said: str) -> None:
    (limit,) = CodexReader().read(json.dumps(_failed(LIMIT.format(said))))
    assert isinstance(limit, Limit)
    assert limit.resets_at is None
