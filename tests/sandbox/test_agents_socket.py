"""A sandboxed agent reaches the socket for agents, also the one that the next daemon makes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.keeper.scripted_daemon import wait_for
from tests.sandbox import caller, confined
from tests.sandbox.confined import Machine

from ramet.model.principal import of_session

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def machine(bwrap: None) -> Iterator[Machine]:
    made = Machine(confined.make_folder())
    try:
        yield made
    finally:
        made.close()


@pytest.mark.requirement("R344")
@pytest.mark.parametrize("sandbox", ["workspace", "strict"])
def test_an_agent_calls_the_next_daemon_too(machine: Machine, sandbox: str) -> None:
    agent = machine.write(machine.tools / "caller.py", Path(caller.__file__).read_text())
    profile = {"driver": "command", "program": [sys.executable, str(agent)], "sandbox": sandbox}
    machine.confine(profiles={"caller": profile})
    machine.json("add", "Call.", "--driver", "caller")
    work = subprocess.Popen([machine.program, "work", "--once"], cwd=machine.cwd, env=machine.environ)
    try:
        (called,) = wait_for(lambda: [*machine.home.glob("ramet/worktrees/*/e1/called")], confined.PATIENCE_SECONDS)
        killed = machine.daemon_pid()
        assert killed is not None
        os.kill(killed, signal.SIGKILL)
        wait_for(lambda: machine.daemon_pid() != killed, confined.PATIENCE_SECONDS)  # `ramet work` starts it
        machine.ok("status")
        called.with_name("restarted").touch()
        assert work.wait(confined.PATIENCE_SECONDS) == 0
    finally:
        work.kill()
        work.wait()
    effort = machine.json("show", "e1")
    assert json.loads(effort["output_content"]) == [of_session(effort["sessions"][0]["id"])] * 2
