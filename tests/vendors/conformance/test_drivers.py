"""Every driver, against the recorded streams of its program."""

import time
from collections.abc import Iterator

import pytest
from tests.vendors import recorded

from ramet.model.work.stream import (
    End,
    Limit,
    NativeId,
    Started,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from ramet.vendors import registry

RECORDED = [(name, case) for name in registry.names("driver") for case in recorded.cases(name)]
NEEDED = {
    "claude": {
        *("answer", "tools", "two-results", "overloaded", "invalid-request", "usage-limit"),
        *("resumed", "unknown-session", "killed"),
    },
    "codex": {"answer", "command", "file-change", "overloaded", "warning", "usage-limit", "resumed"},
}
"""Streams that taught a driver something. Every driver needs one that succeeds, one that fails and one that dies."""

each_driver = pytest.mark.parametrize("name", registry.names("driver"))
each_stream = pytest.mark.parametrize(("name", "case"), RECORDED)


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Codex says local times; the streams were recorded in this zone."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.requirement("R312")
@each_stream
def test_a_recorded_stream_is_read_as_expected(name: str, case: str) -> None:
    assert recorded.read(name, case) == recorded.expected(name, case)


@each_driver
def test_a_driver_has_recorded_streams_of_success_failure_and_death(name: str) -> None:
    assert NEEDED.get(name, set()) <= set(recorded.cases(name))
    ends = [recorded.play(name, case).end for case in recorded.cases(name)]
    assert any(end.outcome == "success" and end.answer for end in ends)
    assert any(end.failure in ("permanent", "transient") for end in ends)
    assert any(end.failure == "unknown" and "SIGKILL" in (end.reason or "") for end in ends)


@each_driver
def test_what_a_driver_says_it_can_do_is_seen_in_its_streams(name: str) -> None:
    events = [event for case in recorded.cases(name) for event in recorded.play(name, case).events]
    abilities = registry.find_driver(name).abilities
    shown = {kind for kind in (NativeId, ToolCall, Usage, Limit) if any(isinstance(event, kind) for event in events)}
    assert not abilities.resume or NativeId in shown
    assert not abilities.tools or ToolCall in shown
    assert not abilities.usage or Usage in shown
    assert not abilities.limits or Limit in shown


@each_stream
def test_an_outcome_and_its_failure_agree(name: str, case: str) -> None:
    end = recorded.play(name, case).end
    assert (end.outcome == "success") == (end.failure is None)
    assert end.outcome == "success" or end.reason
    assert end.exit_status is None
    assert end.ended == []


@each_stream
def test_a_stream_tells_of_each_call_once_before_its_result(name: str, case: str) -> None:
    called: list[str] = []
    for event in recorded.play(name, case).events:
        assert not isinstance(event, Started | End)
        if isinstance(event, ToolCall):
            assert event.call_id not in called
            called.append(event.call_id)
        if isinstance(event, ToolResult):
            assert event.call_id in called


@each_stream
def test_a_limit_is_told_with_the_time_when_it_ends(name: str, case: str) -> None:
    played = recorded.play(name, case)
    limits = [event for event in played.events if isinstance(event, Limit)]
    assert bool(limits) == (played.end.failure == "limit")
    ends = [limit.resets_at.year if limit.resets_at else None for limit in limits]
    assert set(ends) <= ({None} if case == "bad-key" else {2030})


@each_stream
def test_the_answer_is_what_the_agent_said_last(name: str, case: str) -> None:
    played = recorded.play(name, case)
    said = [event for event in played.events if isinstance(event, Text)]
    if said and not said[-1].is_partial:
        assert played.end.answer == said[-1].text
