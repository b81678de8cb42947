"""A disk that hangs: nobody waits for it longer than an agent should, and no daemon that stops."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.daemon.harness import PATIENCE_SECONDS
from tests.daemon.process import Home
from tests.workspace.repositories import mark_repository

from ramet.config.settings import HookSettings
from ramet.daemon.hooks.disk_lookups import DiskLookups, Patience
from ramet.model.hooks.hook import HookEvent
from ramet.protocol.hooks.hooks import HookFacts

EVENT = HookEvent(vendor="claude", moment="post_tool_use", name="PostToolUse", native_id="w1")
HANGING_GIT = """#!/bin/sh
echo $$ >> "$(dirname "$0")/pids"
exec sleep 300
"""
LOOKING = """
import asyncio, threading
from ramet.config.settings import HookSettings
from ramet.daemon.hooks.disk_lookups import DiskLookups, Patience
from ramet.model.hooks.hook import HookEvent

async def live():
    event = HookEvent(vendor="claude", moment="post_tool_use", name="PostToolUse", native_id="w1")
    print(await DiskLookups(Patience.of(HookSettings(deadline_ms=50))).look(event, threading.Event().wait))

asyncio.run(live())
"""


@pytest.mark.parametrize("milliseconds", [10, 1000, 2500])
def test_what_a_hook_waits_for_takes_less_than_its_program_does(milliseconds: int) -> None:
    parts = Patience.of(HookSettings(deadline_ms=milliseconds, start_deadline_ms=2 * milliseconds))
    assert parts.look < milliseconds / 1000
    assert parts.read + parts.look_at_boundary < 2 * milliseconds / 1000
    assert parts.git < parts.look_at_boundary


def test_a_look_that_hangs_keeps_no_process_from_ending() -> None:
    done = subprocess.run([sys.executable, "-c", LOOKING], capture_output=True, timeout=PATIENCE_SECONDS, check=True)
    assert done.stdout == b"None\n"


def test_what_nobody_waits_for_any_more_is_not_looked_at() -> None:
    disk, late = threading.Event(), threading.Event()

    def hang() -> HookFacts:
        disk.wait(PATIENCE_SECONDS)
        return HookFacts()

    def note() -> HookFacts:
        late.set()
        return HookFacts()

    async def live() -> list[HookFacts | None]:
        lookers = DiskLookups(Patience.of(HookSettings(deadline_ms=200)))
        found = await asyncio.gather(*(lookers.look(EVENT, hang) for _ in range(4)), lookers.look(EVENT, note))
        disk.set()
        return [*found, await lookers.look(EVENT, HookFacts)]

    assert asyncio.run(live()) == [None] * 5 + [HookFacts()]
    assert not late.is_set()


def test_a_look_that_fails_is_whoever_s_who_asked() -> None:
    def fail() -> HookFacts:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(DiskLookups(Patience.of(HookSettings())).look(EVENT, fail))


def test_where_git_hangs_a_session_is_told_the_rest_and_the_daemon_stops(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = tmp_path / "git"
    git.write_text(HANGING_GIT)
    git.chmod(0o700)
    project = tmp_path / "shop"
    mark_repository(project)
    (project / "AGENTS.md").write_text("Two spaces.")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "ramet").mkdir()
    (tmp_path / "ramet/config.yaml").write_text("hooks: {start_deadline_ms: 12000}")
    daemon = home.serve()
    clients = [home.connect() for _ in range(6)]
    for number, client in enumerate(clients):
        started = {"hook_event_name": "SessionStart", "source": "startup", "session_id": f"w{number}"}
        place = {"cwd": str(project), "transcript_path": str(tmp_path / f"w{number}.jsonl")}
        client.ask("hooks.event", vendor="claude", payload=json.dumps({**started, **place}))
    told: list[Any] = [client.receive()["result"]["output"] for client in clients[:4]]
    assert all("Two spaces." in json.dumps(output) for output in told)
    stopped_at = time.monotonic()
    daemon.terminate()
    assert daemon.wait(PATIENCE_SECONDS) == 0
    assert time.monotonic() - stopped_at < PATIENCE_SECONDS / 2
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    left = [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]
    for process in left:
        process.kill()
    assert (len(pids) >= 1, left) == (True, [])
