"""`ramet undo SESSION`: the context before a compaction, and the command that goes on with it."""

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest
from tests.cli.command_line import CommandLine
from tests.conformance import hook_calls


@pytest.fixture
def compacted(ramet: CommandLine) -> CommandLine:
    """Session 1, started by hand in the working directory, whose context was compacted."""
    event = hook_calls.event("session_start", source="startup", cwd=str(ramet.cwd))
    ramet.ok("rpc", "call", "hooks.record", json.dumps({"event": event, "facts": {"project": str(ramet.cwd)}}))
    said = [
        hook_calls.entry("1", "mend 'the' $cart", role="user"),
        hook_calls.entry("2", "summed up", kind="compaction"),
    ]
    more = {"session_id": 1, "path": hook_calls.TRANSCRIPT, "offset": 9, "entries": said}
    ramet.ok("rpc", "call", "ingest.add", json.dumps(more))
    return ramet


def test_print_shows_what_the_context_was_and_begins_nothing(compacted: CommandLine) -> None:
    shown = compacted.ok("undo", "s1", "--print")
    assert "mend 'the' $cart" in shown
    assert "summed up" not in shown
    assert compacted.ok("undo", f"claude:{hook_calls.WINDOW}", "--compaction", "1", "--print") == shown
    assert len(compacted.json("session", "list")["items"]) == 1


def test_the_command_that_is_printed_starts_the_agent_with_all_of_it(compacted: CommandLine, tmp_path: Path) -> None:
    agent = tmp_path / "claude"
    agent.write_text('#!/bin/sh\nprintf "%s|%s|%s" "$RAMET_SESSION" "$PWD" "$1"\n')
    agent.chmod(0o755)
    told = compacted.ok("undo", "s1")
    command = told.splitlines()[-1]
    assert told.startswith("session s2 continues s1 from before compaction 1, ")
    environ = {**compacted.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    started = subprocess.run(["sh", "-c", command], env=environ, capture_output=True, text=True, check=True).stdout
    assert started == f"2|{compacted.cwd}|{compacted.ok('undo', 's1', '--print').rstrip()}"


def test_a_context_that_is_too_long_for_an_argument_is_named_by_its_file(compacted: CommandLine) -> None:
    said = [hook_calls.entry("3", "x" * 200_000, role="user"), hook_calls.entry("4", "again", kind="compaction")]
    more = {"session_id": 1, "path": hook_calls.TRANSCRIPT, "offset": 99, "entries": said}
    compacted.ok("rpc", "call", "ingest.add", "-", stdin=json.dumps(more))
    undone = compacted.json("undo", "s1")
    file = Path(undone["file"])
    assert f"Read {file} whole" in undone["command"]
    assert "x" * 200_000 in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_what_is_for_branches_is_not_for_sessions_and_the_other_way_round(compacted: CommandLine) -> None:
    assert compacted("undo", "main", "--print").returncode == 2
    assert compacted("undo", "s1", "--compaction", "2").returncode == 4
    assert compacted("undo", "s9").returncode == 3
    assert compacted("undo", "session/1").returncode == 4, "its branch has nothing to take back"
