"""What hooks leave behind that reached no daemon."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ramet.daemon.hooks import gaps


def note(file: Path, event: str = "Stop", session: str = "s1", **more: Any) -> None:
    gap = {"at": 1, "vendor": "claude", "why": "down", "hook_event_name": event, "session_id": session}
    place = {"transcript_path": f"/home/dev/{session}.jsonl", "cwd": "/home/dev/project"}
    with file.open("a") as lines:
        lines.write(json.dumps({**gap, **place, **more}) + "\n")


def test_each_session_is_told_of_once(tmp_path: Path) -> None:
    file = tmp_path / "gaps.jsonl"
    for session in ("s1", "s2", "s1"):
        note(file, session=session, agent_id="a1")
    events = [gap.event for gap in gaps.take(file)]
    assert [(event.native_id, event.moment, event.agent_id) for event in events] == [
        ("s1", "other", None),
        ("s2", "other", None),
    ]
    assert (events[0].transcript_path, events[0].cwd) == ("/home/dev/s1.jsonl", "/home/dev/project")


def test_a_session_that_has_ended_meanwhile_has_ended(tmp_path: Path) -> None:
    file = tmp_path / "gaps.jsonl"
    for event in ("PreToolUse", "SessionEnd"):
        note(file, event)
    assert [gap.event.moment for gap in gaps.take(file)] == ["other", "session_end"]


def test_the_process_that_called_last_is_the_session_s(tmp_path: Path) -> None:
    file = tmp_path / "gaps.jsonl"
    note(file, at=5, pid=41)
    note(file, at=7, pid=42)
    note(file, session="s2", pid="many")
    assert [(gap.pid, gap.at) for gap in gaps.take(file)] == [(42, 7), (None, 1)]


def test_a_session_that_was_resumed_has_not_ended(tmp_path: Path) -> None:
    file = tmp_path / "gaps.jsonl"
    for event in ("SessionEnd", "SessionStart"):
        note(file, event)
    assert [gap.event.moment for gap in gaps.take(file)] == ["other"]


def test_gaps_are_there_until_they_are_forgotten(tmp_path: Path) -> None:
    file = tmp_path / "gaps.jsonl"
    note(file)
    assert gaps.take(file) == gaps.take(file) != []
    note(file, session="s2")
    gaps.forget(file)
    assert [gap.event.native_id for gap in gaps.take(file)] == ["s2"]
    gaps.forget(file)
    assert gaps.take(file) == []
    assert list(tmp_path.iterdir()) == []


def test_lines_that_say_nothing_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "gaps.jsonl"
    file.write_bytes(b'{"vendor":"claude"\n[]\n\xff\n{"vendor":[1]}\n{"vendor":"nobody","session_id":"x"}\n')
    note(file, transcript_path="not/absolute")
    note(file, session="s3")
    assert [gap.event.native_id for gap in gaps.take(file)] == ["s3"]


@pytest.mark.parametrize("name", ["gaps.jsonl", "gaps.taken"])
@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_what_no_hook_has_written_is_left_alone_and_keeps_nobody_waiting(
    tmp_path: Path, make: Callable[[Path], None], name: str
) -> None:
    make(tmp_path / name)
    if name == "gaps.taken":
        note(tmp_path / "gaps.jsonl")
    gaps.take(tmp_path / "gaps.jsonl")
    gaps.forget(tmp_path / "gaps.jsonl")
    (tmp_path / name).rmdir() if (tmp_path / name).is_dir() else (tmp_path / name).unlink(missing_ok=True)
    note(tmp_path / "gaps.jsonl")
    assert [gap.event.native_id for gap in gaps.take(tmp_path / "gaps.jsonl")] == ["s1"]


def test_no_more_is_read_than_hooks_write(tmp_path: Path) -> None:
    file = tmp_path / "gaps.jsonl"
    note(file)
    with file.open("ab") as lines:
        lines.write(b"x" * 3 * 1024 * 1024 + b"\n")
    note(file, session="s2")
    assert [gap.event.native_id for gap in gaps.take(file)] == ["s1"]
