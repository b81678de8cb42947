"""Whose session a process belongs to: a real daemon, real processes, and what the kernel says of them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.harness import PATIENCE_SECONDS
from tests.daemon.process import Home
from tests.hooks.conftest import Hook
from tests.hooks.conftest import hook as hook  # noqa: PLC0414 - a fixture

_ASK = """
import json, socket, sys
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(sys.argv[1])
    connection.sendall((sys.argv[2] + "\\n").encode())
    print(connection.makefile().readline())
"""
_PROGRAM = """
import json, subprocess, sys
hook, ask, sockets, starts, question = json.loads(sys.argv[1])
for start in starts:
    subprocess.run([hook, "codex"], input=start, text=True, check=True)
print("ready", flush=True)
for line in sys.stdin:
    # Through a shell, as programs start their tools.
    command = ["/bin/sh", "-c", '"$@"; true', "sh", sys.executable, "-c", ask, sockets, question]
    print(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip(), flush=True)
"""


@pytest.fixture
def home(hook: Hook) -> Iterator[Home]:
    home = Home(hook.home)
    hook.program.write_text(hook.program.read_text().replace(str(hook.socket), str(home.socket)))
    home.serve(autostart=False)
    yield home
    home.close()


def question(**params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "hooks.caller", "params": params})


class Program:
    """An agent program: sessions are open in it, and it starts a tool that asks whose it is."""

    def __init__(self, home: Home, hook: Hook, folder: Path, *windows: str, **params: Any) -> None:
        said = {"hook_event_name": "SessionStart", "source": "startup", "cwd": str(folder)}
        starts = [json.dumps({**said, "session_id": window}) for window in windows]
        given = json.dumps([str(hook.program), _ASK, str(home.socket), starts, question(**params)])
        interpreter = folder / "codex"
        if not interpreter.exists():
            interpreter.symlink_to(os.path.realpath(sys.executable))
        self.process = subprocess.Popen(
            [str(interpreter), "-I", "-S", "-c", _PROGRAM, given],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PATH": os.environ["PATH"], "HOME": str(folder)},
        )
        assert self._line() == "ready"

    def ask(self) -> Any:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self._line())

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def close(self) -> None:
        self.process.communicate(timeout=PATIENCE_SECONDS)


@pytest.mark.requirement("R369")
def test_a_tool_finds_the_session_of_the_program_that_started_it_and_of_no_other(
    home: Home, hook: Hook, tmp_path: Path
) -> None:
    first, second = Program(home, hook, tmp_path, "one"), Program(home, hook, tmp_path, "two", native_id="one")
    try:
        assert first.ask()["result"] == {"session_id": 1}
        assert second.ask()["result"] == {"session_id": 2}, "what it says cannot make it another program's"
    finally:
        first.close()
        second.close()


@pytest.mark.requirement("R369")
@pytest.mark.parametrize("params", [{}, {"native_id": "one"}])
def test_a_process_that_no_program_started_is_told_of_no_session(
    home: Home, hook: Hook, tmp_path: Path, params: dict[str, Any]
) -> None:
    program = Program(home, hook, tmp_path, "one")
    try:
        command = [sys.executable, "-c", _ASK, str(home.socket), question(**params)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS)
        assert json.loads(done.stdout)["error"]["data"]["code"] == "session_not_found"
    finally:
        program.close()


def test_of_several_sessions_in_one_program_the_call_says_which(home: Home, hook: Hook, tmp_path: Path) -> None:
    named = Program(home, hook, tmp_path, "one", "two", native_id="two")
    unnamed = Program(home, hook, tmp_path, "three", "four")
    try:
        assert named.ask()["result"] == {"session_id": 2}
        assert "several sessions are open in the program" in unnamed.ask()["error"]["message"]
    finally:
        named.close()
        unnamed.close()
