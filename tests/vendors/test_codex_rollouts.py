"""What the rollout of a thread says while Codex runs."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ramet.config.settings import ProfileSettings
from ramet.model.work.stream import Refusal, Usage
from ramet.vendors import registry
from ramet.vendors.contract.driver_protocol import Looking

THREAD = "00000000-0000-4000-8000-000000000001"
STARTED = {"type": "thread.started", "thread_id": THREAD}
DONE = {"type": "item.completed", "item": {"type": "agent_message", "text": "It is blue."}}
COMPLETED = {
    "type": "turn.completed",
    "usage": {"input_tokens": 2000, "cached_input_tokens": 400, "output_tokens": 100},
}


def rollout(home: Path, *lines: dict[str, Any], below: str = "sessions") -> Path:
    path = home / below / "2026/01/01" / f"rollout-2026-01-01T00-00-00-{THREAD}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    return path


def turn(model: str) -> dict[str, Any]:
    return {"type": "turn_context", "payload": {"model": model}}


def counted(calls: int) -> dict[str, Any]:
    """After so many calls of a thousand tokens, of which two hundred came from the cache."""
    last = {"input_tokens": 1000, "cached_input_tokens": 200, "output_tokens": 50}
    total = {name: value * calls for name, value in last.items()}
    info = {"total_token_usage": total, "last_token_usage": last, "model_context_window": 258_400}
    return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}


def read(home: Path, *lines: dict[str, Any]) -> list[Usage]:
    reader = registry.find_driver("codex").reader(ProfileSettings(), {"CODEX_HOME": str(home)})
    return [event for line in lines for event in reader.read(json.dumps(line)) if isinstance(event, Usage)]


@pytest.mark.requirement("R371")
@pytest.mark.parametrize("below", ["sessions", "sessions/ramet/0123456789abcdef"])
def test_what_a_thread_uses_is_known_after_each_step_and_by_which_model(tmp_path: Path, below: str) -> None:
    rollout(tmp_path, turn("gpt-5.5"), counted(1), below=below)
    reader = registry.find_driver("codex").reader(ProfileSettings(), {"CODEX_HOME": str(tmp_path)})
    assert isinstance(reader, Looking)
    reader.read(json.dumps(STARTED))
    (first,) = reader.look()
    assert reader.look() == []
    rollout(tmp_path, counted(2), below=below)
    (second,) = reader.look()
    sums: dict[str, Any] = {"key": THREAD, "model": "gpt-5.5", "context_tokens": 1000, "window_tokens": 258_400}
    assert first == Usage(input_tokens=800, cache_read_tokens=200, output_tokens=50, **sums)
    assert second == Usage(input_tokens=1600, cache_read_tokens=400, output_tokens=100, **sums)
    (last,) = reader.read(json.dumps(COMPLETED))
    assert last == Usage(key=THREAD, model="gpt-5.5", input_tokens=1600, cache_read_tokens=400, output_tokens=100)


def test_a_thread_without_a_rollout_says_what_its_stream_says(tmp_path: Path) -> None:
    (used,) = read(tmp_path, STARTED, DONE, COMPLETED)
    assert (used.model, used.input_tokens) == (None, 1600)


def test_nobodys_pipe_holds_up_the_reader(tmp_path: Path) -> None:
    path = rollout(tmp_path)
    path.unlink()
    os.mkfifo(path)
    assert [used.model for used in read(tmp_path, STARTED, DONE, COMPLETED)] == [None]


@pytest.mark.parametrize("thread", ["../../x", "*", "", "a/b"])
def test_a_thread_names_no_other_file(tmp_path: Path, thread: str) -> None:
    rollout(tmp_path, turn("gpt-5.5"), counted(1))
    used = read(tmp_path, {"type": "thread.started", "thread_id": thread}, DONE, COMPLETED)
    assert [each.model for each in used] == [None]


def output(call_id: str, text: str, at: str) -> dict[str, Any]:
    said = f"Chunk ID: a38570\nWall time: 0.0000 seconds\nProcess exited with code 1\nOutput:\n{text}\n"
    return {
        "timestamp": at,
        "type": "response_item",
        "payload": {"type": "function_call_output", "call_id": call_id, "output": said},
    }


STOPPED = "/bin/bash: line 1: locked/file: Read-only file system"
BEFORE, NOW = "2020-01-01T00:00:00.000Z", "2100-01-01T00:00:00.000Z"
FAILED = {"type": "command_execution", "id": "item_1", "command": "echo", "status": "failed", "exit_code": 1}


def refused(home: Path, *lines: dict[str, Any]) -> list[tuple[str, list[str]]]:
    reader = registry.find_driver("codex").reader(ProfileSettings(), {"CODEX_HOME": str(home)})
    events = [event for line in lines for event in reader.read(json.dumps(line))]
    return [(event.key, event.rules) for event in events if isinstance(event, Refusal)]


@pytest.mark.requirement("R358")
def test_a_command_that_the_sandbox_stopped_at_once_is_refused_once_although_the_stream_leaves_it_out(
    tmp_path: Path,
) -> None:
    rollout(tmp_path, output("call_0", STOPPED, BEFORE), output("call_1", STOPPED, NOW), output("call_2", "no", NOW))
    told = {"type": "item.completed", "item": {**FAILED, "aggregated_output": STOPPED}}
    assert refused(tmp_path, STARTED, COMPLETED) == [("call_1", ["edit: locked/file"])]
    assert refused(tmp_path, STARTED, told, COMPLETED) == [("call_1", ["edit: locked/file"])]


def test_without_a_rollout_the_stream_says_which_commands_were_stopped(tmp_path: Path) -> None:
    told = {"type": "item.completed", "item": {**FAILED, "aggregated_output": STOPPED}}
    assert refused(tmp_path, STARTED, told, COMPLETED) == [("item_1", ["edit: locked/file"])]
