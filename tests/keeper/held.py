"""A real keeper with a real agent, and what both leave behind."""

import os
import shlex
import signal
import sys
import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import psutil
from tests.keeper.scripted_daemon import PATIENCE_SECONDS, wait_for

from ramet.config.settings import ProfileSettings
from ramet.model.record.effort import StopRequest
from ramet.model.work.stream import End, StreamEvent
from ramet.protocol.work.keepers import LOG_FILE, MARKER, KeeperRecord, KeeperSpec, Launch
from ramet.runner.processes import keepers, process_identity, process_tree

_numbers = count(1)

EVENTS = ProfileSettings(output="jsonl")
"""The agent prints stream events instead of text."""


class Held:
    """One keeper, from the test's point of view."""

    def __init__(self, folder: Path, spec: KeeperSpec) -> None:
        self.folder = folder
        self.spec = spec
        self.record = keepers.start(folder, spec)
        self.status: int | None = None

    @property
    def pid(self) -> int:
        return self.record.pid

    @property
    def log(self) -> str:
        return (self.folder / self.spec.instance / LOG_FILE).read_text()

    @property
    def is_alive(self) -> bool:
        return process_identity.is_alive(self.record.pid, self.record.started_at)

    def whole_record(self) -> KeeperRecord:
        """What the keeper wrote about itself once its agent ran."""

        def read() -> KeeperRecord | None:
            record = keepers.read_record(self.folder, self.spec.instance)
            return record if record is not None and record.agent_pid is not None else None

        found: KeeperRecord = wait_for(read)
        return found

    def spooled(self) -> list[StreamEvent]:
        return [line.event for line in keepers.read_spool(self.folder, self.spec.instance)]

    def stop(self, stop: StopRequest) -> None:
        assert keepers.ask_to_stop(self.folder, self.record, stop)

    def wait(self, seconds: float = PATIENCE_SECONDS) -> int:
        """Its exit status, once it is gone."""
        deadline = time.monotonic() + seconds
        while self.status is None:
            pid, status = os.waitpid(self.record.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
            else:
                assert time.monotonic() < deadline, f"the keeper is still there\n{self.log}"
                time.sleep(0.005)
        return self.status

    def kill(self) -> None:
        os.kill(self.record.pid, signal.SIGKILL)
        assert self.wait() == -signal.SIGKILL

    def marked(self) -> list[psutil.Process]:
        """What of its agent still runs."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                is_marked = process.environ().get(MARKER) == self.spec.instance
                if is_marked and process.pid != self.record.pid and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def close(self) -> None:
        if self.status is None:
            with suppress(ProcessLookupError):
                os.kill(self.record.pid, signal.SIGKILL)
            self.wait()
        process_tree.end_marked(self.spec.instance, 0)


def make_spec(folder: Path, socket: Path, agent: str | list[str], /, **changes: Any) -> KeeperSpec:
    """A keeper for a shell script or a program, with bounds that no test reaches by accident."""
    arguments = ["sh", "-c", agent] if isinstance(agent, str) else agent
    launch = Launch(
        arguments=arguments,
        stdin=changes.pop("stdin", ""),
        environment=changes.pop("environment", {"PATH": os.environ["PATH"]}),
        directory=changes.pop("directory", str(folder)),
    )
    instance = f"keeper{os.getpid()}x{next(_numbers)}"
    settings: dict[str, Any] = {
        "instance": instance,
        "session_id": 7,
        "effort_id": 5,
        "generation": 1,
        "driver": "command",
        "profile": ProfileSettings(),
        "launch": launch,
        "folder": str(folder / instance),
        "socket": str(socket),
        "timeout_seconds": None,
        "silent_seconds": 300,
        "stuck_seconds": 900,
        "repeat_limit": 20,
        "grace_seconds": 0.3,
        "lingering_seconds": 60,
        "output_max_bytes": 64 * 1024 * 1024,
        "lease_seconds": 60,
        "is_fenced": False,
    }
    return KeeperSpec(**(settings | changes))


def python(script: str) -> list[str]:
    """An agent in Python."""
    return [sys.executable, "-c", script]


def printing(*lines: str) -> str:
    """A shell script that prints these lines."""
    return "; ".join(f"printf '%s\\n' {shlex.quote(line)}" for line in lines)


def end_of(events: list[StreamEvent]) -> End:
    """How it went: the last event, and the only one of its kind."""
    ends = [event for event in events if isinstance(event, End)]
    assert len(ends) == 1
    assert events[-1] is ends[0]
    return ends[0]
