"""Words of Claude Code that no recorded stream has: of older versions, and of days when things go wrong."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from ramet.config.settings import ProfileSettings
from ramet.model.work.stream import (
    End,
    Limit,
    Prompt,
    StreamEvent,
    SubAgent,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from ramet.vendors import registry
from ramet.vendors.contract.driver_protocol import ProcessExit

EXIT_1 = ProcessExit(status=1, signal=None, errors="")


def _read(*lines: dict[str, Any], process: ProcessExit = EXIT_1) -> tuple[list[StreamEvent], End]:
    reader = registry.find_driver("claude").reader(ProfileSettings())
    events = [event for line in lines for event in reader.read(json.dumps(line))]
    return events, reader.conclude(process)


def _failed(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "is_error": True, "result": text, **more}


def _used(inputs: int, cost: float) -> dict[str, Any]:
    return {"m": {"inputTokens": inputs, "outputTokens": 1, "costUSD": cost}}


def _message(number: int, inputs: int) -> dict[str, Any]:
    usage = {"input_tokens": inputs, "output_tokens": 1}
    return {"type": "assistant", "message": {"id": f"msg_{number}", "model": "m", "usage": usage, "content": []}}


@pytest.mark.parametrize(
    ("text", "resets_at"),
    [
        ("Claude AI usage limit reached|1760000000", datetime(2025, 10, 9, 8, 53, 20, tzinfo=UTC)),
        ("Claude AI usage limit reached|1760000000000", datetime(2025, 10, 9, 8, 53, 20, tzinfo=UTC)),
        ("You've hit your weekly limit · resets Monday", None),
        ("5-hour limit reached ∙ resets 3pm", None),
    ],
)
def test_a_usage_limit_is_known_by_its_words(text: str, resets_at: datetime | None) -> None:
    events, end = _read(_failed(text))
    assert events == [Limit(text=text, resets_at=resets_at)]
    assert (end.failure, end.reason) == ("limit", text)


@pytest.mark.requirement("R372")
@pytest.mark.parametrize("is_result", [True, False])
def test_missing_credentials_of_a_cloud_are_trouble_of_the_account_with_the_key_that_lets_them_through(
    is_result: bool,
) -> None:
    said = "API Error: Could not load credentials from any providers"
    lines = [_failed(said, api_error_status=500)] if is_result else []
    _, end = _read(*lines, process=EXIT_1 if is_result else ProcessExit(status=1, signal=None, errors=said))
    assert (end.failure, said in (end.reason or ""), "work.environment" in (end.reason or "")) == ("limit", True, True)


@pytest.mark.parametrize(
    ("result", "failure"),
    [
        (_failed("API Error: Request rejected (429)", api_error_status=429), "limit"),
        (_failed("API Error: 503", api_error_status=503), "transient"),
        (_failed("API Error: Connection refused", terminal_reason="api_error"), "transient"),
        (_failed("Credit balance is too low", api_error_status=400), "limit"),
        (_failed("Not logged in · Please run /login", terminal_reason="api_error"), "limit"),
        (_failed("OAuth token has expired", api_error_status=401), "limit"),
        (_failed("API Error: 403 not for this account", api_error_status=403), "limit"),
        (_failed("Prompt is too long", api_error_status=400), "permanent"),
        ({"type": "result", "is_error": True, "subtype": "error_max_turns"}, "permanent"),
        ({"type": "result", "is_error": True, "subtype": "error_during_execution"}, "unknown"),
    ],
)
def test_failures_are_told_apart(result: dict[str, Any], failure: str) -> None:
    assert _read(result)[1].failure == failure


def test_a_spent_budget_is_not_an_error_of_the_agent() -> None:
    result = {"type": "result", "is_error": True, "subtype": "error_max_budget_usd", "errors": ["Reached it"]}
    end = _read(result)[1]
    assert (end.outcome, end.failure, end.reason) == ("budget", "permanent", "Reached it")


def test_an_interrupted_run_that_exits_with_0_is_no_success() -> None:
    end = _read(process=ProcessExit(status=0, signal=None, errors=""))[1]
    assert (end.outcome, end.failure) == ("error", "unknown")


@pytest.mark.parametrize("complaint", ["error: unknown option '--frobnicate'", "Session ID abc is already in use."])
def test_a_wrong_start_is_not_tried_again(complaint: str) -> None:
    end = _read(process=ProcessExit(status=1, signal=None, errors=complaint))[1]
    assert end.failure == "permanent"
    assert complaint in (end.reason or "")


def test_what_results_say_since_the_last_one_is_added_up() -> None:
    """As newer versions do, whose totals begin before the run: with what the session used before it was resumed."""
    first = {
        "type": "result",
        "is_error": False,
        "modelUsage": _used(900, 9),
        "model_usage_since_last_result": _used(100, 1),
    }
    second = {**first, "modelUsage": _used(1000, 10), "model_usage_since_last_result": _used(50, 0.5)}
    events, _ = _read(_message(1, 90), first, _message(2, 40), second)
    keys = {event.key for event in events if isinstance(event, Usage)}
    assert keys == {"msg_1/m"}
    last = events[-1]
    assert isinstance(last, Usage)
    assert (last.input_tokens, last.cost_usd) == (150, 1.5)


def test_the_totals_of_an_older_version_replace_each_other() -> None:
    results = [{"type": "result", "is_error": False, "modelUsage": _used(count, count / 100)} for count in (100, 150)]
    events, _ = _read(*results)
    assert [event.input_tokens for event in events if isinstance(event, Usage)] == [100, 150]


def test_a_model_that_the_result_calls_by_another_name_is_counted_once() -> None:
    result = {"type": "result", "is_error": False, "modelUsage": {"m[1m]": {"inputTokens": 100}}}
    events, _ = _read(_message(1, 90), result)
    said = {event.key: event.input_tokens for event in events if isinstance(event, Usage)}
    assert said == {"msg_1/m": 0, "msg_1/m[1m]": 100}


def _below(kind: str, content: list[dict[str, Any]], **said: Any) -> dict[str, Any]:
    message = {"id": "m1", "role": kind, "model": "claude", "content": content}
    return {"type": kind, "message": message, "parent_tool_use_id": "toolu_1", **said}


@pytest.mark.requirement("R368")
@pytest.mark.parametrize(("agent", "name"), [({}, "toolu_1"), ({"agent_id": "a1"}, "a1")])
def test_everything_of_a_sub_agent_is_its_own_whether_or_not_its_lines_name_it(
    agent: dict[str, str], name: str
) -> None:
    """Older versions name only the call, print what the sub-agent is asked for, and wait for its end."""
    call = {"type": "tool_use", "id": "toolu_1", "name": "Agent", "input": {"prompt": "Look."}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Two."}
    events, end = _read(
        {"type": "assistant", "message": {"content": [call]}},
        _below("user", [{"type": "text", "text": "Look."}], **agent),
        _below("user", [{"type": "text", "text": "Look."}], **agent),
        _below("assistant", [{"type": "text", "text": "Two."}], **agent),
        {"type": "user", "message": {"content": [result]}, "tool_use_result": {"status": "completed"}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "There are two."}]}},
        {"type": "result", "is_error": False},
    )
    own = [type(event) for event in events if not isinstance(event, SubAgent)]
    assert own == [ToolCall, ToolResult, Text]
    told = [event for event in events if isinstance(event, SubAgent)]
    assert {event.agent_id for event in told} == {name}
    assert [event.said for event in told] == [Prompt(text="Look."), Text(text="Two."), End(outcome="success")]
    assert end.answer == "There are two."
