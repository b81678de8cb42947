"""Whatever runs in a sandbox ends with its agent, its keeper or the command that stops it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.keeper.scripted_daemon import wait_for
from tests.sandbox import confined, lingering
from tests.sandbox.confined import Machine

from ramet.protocol.work.keepers import RECORD_FILE
from ramet.runner.processes import keepers

pytestmark = pytest.mark.timeout(300)

HIDDEN = 3
"""The processes that the agent hides."""


class Running:
    """An agent with hidden processes, at work."""

    def __init__(self, machine: Machine, sandbox: str) -> None:
        self.machine = machine
        self.mark = f"mark-{os.getpid()}-{machine.home.name}"
        agent = machine.write(machine.tools / "lingering.py", Path(lingering.__file__).read_text())
        program = [sys.executable, str(agent), self.mark]
        profile = {"driver": "command", "program": program, "sandbox": sandbox}
        machine.confine(profiles={"lingering": profile})
        self.effort_id = machine.json("add", "Stay.", "--driver", "lingering")["id"]
        self.work = subprocess.Popen(
            [machine.program, "work", "--once"], cwd=machine.cwd, env=machine.environ, stdout=subprocess.DEVNULL
        )
        wait_for(lambda: len(self.marked(lingering.DEAF)) == HIDDEN, confined.PATIENCE_SECONDS)

    @property
    def keeper(self) -> Any:
        folder = self.machine.home / "ramet" / "keepers" / "ramet"
        (record,) = keepers.list_records(folder)
        assert (folder / record.instance / RECORD_FILE).exists()
        return record

    def marked(self, *words: str) -> list[int]:
        """Every process with the mark and these words on its command line, sandbox programs included."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if {self.mark, *words} <= {*process.cmdline()} and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process.pid)
        return found

    def daemon_pid(self) -> int:
        found = self.machine.daemon_pid()
        assert found is not None
        return found

    def close(self) -> None:
        self.work.kill()
        self.work.wait()
        for pid in self.marked():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture(params=["workspace", "strict"])
def running(request: pytest.FixtureRequest, bwrap: None) -> Iterator[Running]:
    machine = Machine(confined.make_folder())
    try:
        made = Running(machine, request.param)
        try:
            yield made
        finally:
            made.close()
    finally:
        machine.close()


def test_a_killed_keeper_takes_everything_along(running: Running) -> None:
    os.kill(running.keeper.pid, signal.SIGKILL)
    assert wait_for(lambda: not running.marked(), confined.PATIENCE_SECONDS)


def test_nothing_is_left_after_the_daemon_and_the_keeper_were_killed(running: Running) -> None:
    keeper = running.keeper
    os.kill(running.daemon_pid(), signal.SIGKILL)
    os.kill(keeper.pid, signal.SIGKILL)
    assert wait_for(lambda: not running.marked(), confined.PATIENCE_SECONDS)


def test_the_agent_outlives_a_killed_daemon_and_the_next_one_can_end_it(running: Running) -> None:
    before, killed = running.marked(), running.daemon_pid()
    os.kill(killed, signal.SIGKILL)
    assert wait_for(lambda: running.daemon_pid() != killed, confined.PATIENCE_SECONDS)  # `ramet work` starts it
    assert running.marked() == before
    running.machine("kill", f"e{running.effort_id}")
    assert wait_for(lambda: not running.marked(), confined.PATIENCE_SECONDS)
    assert running.machine.json("show", f"e{running.effort_id}")["outcome"] == "cancelled"


def test_a_stopped_agent_leaves_nothing_behind(running: Running) -> None:
    running.machine("kill", f"e{running.effort_id}")
    assert wait_for(lambda: not running.marked(), confined.PATIENCE_SECONDS)
