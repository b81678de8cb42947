"""Copilot CLI's events: sub-agents among them, and what its versions count."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.vendors.session_imports import Stored

from ramet.model.hooks.transcript import Entry

SESSION = "ffffffff-0000-4000-8000-000000000001"


@pytest.fixture
def stored(tmp_path: Path) -> Stored:
    return Stored("copilot", tmp_path)


@pytest.fixture
def file(stored: Stored) -> Path:
    return stored.home / ".copilot/session-state/renamed-folder/events.jsonl"


def entries_of(stored: Stored, key: str, position: str | None = None) -> list[Entry]:
    source = next(each for each in stored.find() if each.key == key)
    return [entry for piece in stored.read(source, position) for entry in piece.entries]


def add(file: Path, kind: str, data: Any, **more: Any) -> None:
    event = {
        "type": kind,
        "data": data,
        "id": f"added-{file.stat().st_size}",
        "timestamp": "2025-11-01T11:00:00Z",
        **more,
    }
    with file.open("a") as events:
        events.write(json.dumps(event) + "\n")


@pytest.mark.requirement("R380")
def test_the_id_is_the_one_in_the_first_event_and_not_the_folder_s(stored: Stored) -> None:
    assert SESSION in stored.heads()


@pytest.mark.requirement("R382")
def test_what_a_sub_agent_said_and_used_is_its_own_and_not_its_session_s(stored: Stored, file: Path) -> None:
    mine, its = entries_of(stored, str(file)), entries_of(stored, f"{file}#agent-1")
    assert not {entry.key for entry in mine} & {entry.key for entry in its}
    assert [entry.key for entry in its if entry.kind == "usage"] == ["usage/api-3"]
    assert stored.heads()["agent-1"].parent_id == SESSION


@pytest.mark.requirement("R382")
def test_calls_are_counted_one_by_one_and_the_sums_of_the_end_do_not_count_again(stored: Stored, file: Path) -> None:
    used = [entry for entry in entries_of(stored, str(file)) if entry.kind == "usage"]
    assert [entry.key for entry in used] == ["usage/api-1", "usage/api-2", "usage/api-4"]
    assert (used[0].usage or {})["input_tokens"] == 600
    assert all("cost_usd" not in (entry.usage or {}) for entry in used)
    position = stored.read(stored.find()[0])[-1].position
    add(file, "session.shutdown", {"modelMetrics": {"gpt-5": {"usage": {"inputTokens": 9, "outputTokens": 9}}}})
    assert entries_of(stored, str(file), position) == []


def test_an_old_version_is_counted_by_its_sums(stored: Stored) -> None:
    old = stored.home / ".copilot/session-state/ffffffff-0000-4000-8000-000000000002.jsonl"
    used = [entry for entry in entries_of(stored, str(old)) if entry.kind == "usage"]
    assert [(entry.model, (entry.usage or {})["output_tokens"]) for entry in used] == [("claude-sonnet-4.5", 12)]


@pytest.mark.requirement("R382")
@pytest.mark.parametrize(
    ("data", "is_error"),
    [
        ({"success": True, "result": {"content": "fine\n<exited with exit code 0>"}}, False),
        ({"success": True, "result": {"content": "bad\n<exited with exit code 127>"}}, True),
        ({"success": True, "shellExecution": {"exitCode": 2}, "result": {"content": ""}}, True),
        ({"success": False, "error": {"message": "denied", "code": "denied"}}, True),
        ({"success": True, "result": {"content": "exit code 3 is what it said first\nfine"}}, False),
    ],
)
def test_a_command_that_failed_is_an_error_although_its_tool_succeeded(
    data: dict[str, Any], is_error: bool, stored: Stored, file: Path
) -> None:
    add(file, "tool.execution_complete", {"toolCallId": "call_7", **data})
    last = [entry for entry in entries_of(stored, str(file)) if entry.kind == "tool_result"][-1]
    assert (last.key, last.is_error) == ("call_7/result", is_error)


def test_a_thought_that_is_told_twice_has_one_key(stored: Stored, file: Path) -> None:
    add(file, "assistant.reasoning", {"reasoningId": "r1", "content": "They may say it."})
    thoughts = [entry.key for entry in entries_of(stored, str(file)) if entry.kind == "reasoning"]
    assert len(thoughts) == 2
    assert len(set(thoughts)) == 1


@pytest.mark.requirement("R381")
def test_a_sub_agent_that_starts_later_is_found_and_a_torn_event_is_left_for_the_next_time(
    stored: Stored, file: Path
) -> None:
    add(file, "subagent.started", {"toolCallId": "call_8", "agentName": "x"}, agentId="agent-2")
    add(file, "user.message", {"content": "Look again.", "source": f"agent-{SESSION}"}, agentId="agent-2")
    with file.open("a") as events:
        events.write('{"type":"assistant.message","data":{"content":"half')
    assert [entry.text for entry in entries_of(stored, f"{file}#agent-2")] == ["Look again."]
    source = next(each for each in stored.find() if each.key == f"{file}#agent-2")
    assert source.is_subagent


@pytest.mark.parametrize("bad", ["{", "[]", "7", '{"type": 7}', '{"type":"user.message","data":[]}', '{"data":' * 3000])
def test_events_of_any_kind_break_nothing(bad: str, stored: Stored, file: Path) -> None:
    whole = [entry.key for entry in entries_of(stored, str(file))]
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([lines[0], bad + "\n", *lines[1:]]))
    assert [entry.key for entry in entries_of(stored, str(file))] == whole


def test_a_first_event_that_cannot_be_read_leaves_the_folder_s_name(stored: Stored, file: Path) -> None:
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(["{broken\n", *lines[1:]]))
    heads = stored.heads()
    assert heads["renamed-folder"].cwd == "/home/dev/shop"
