"""Programs that end without a word: a real daemon, and a process that has the program's name and calls its hooks."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.daemon.process import Home

from ramet.daemon.hooks import vanished_agents
from ramet.daemon.hooks.vanished_agents import VanishedAgents, find_former_process, find_process
from ramet.protocol.hooks.hooks import HookProcess
from ramet.protocol.hooks.processes import OpenProcess, OpenProcesses, Vanish
from ramet.runner.processes.process_identity import started_at

PATIENCE_SECONDS = 30
NAME = "claude:w1"

PROGRAM = """
import subprocess, sys
python, socket, *payloads = sys.argv[1:]
for payload in payloads:
    subprocess.run(["/bin/sh", "-c", '"$0" "$@"; true', python, "-c", CALL, socket, payload], check=True)
print("called", flush=True)
sys.stdin.read()
"""
"""Calls a hook as some shells do: they stay until it is done."""
CALL = """
import json, os, socket, sys
daemon = socket.socket(socket.AF_UNIX)
daemon.connect(sys.argv[1])
params = {"vendor": "claude", "payload": sys.argv[2], "pid": os.getppid()}
daemon.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "hooks.event", "params": params}).encode() + b"\\n")
daemon.makefile().readline()
"""


class Program:
    """A process that is called `claude`, with a session open."""

    def __init__(self, home: Home) -> None:
        self.transcript = home.path / "w1.jsonl"
        self._place = {"session_id": "w1", "cwd": str(home.path), "transcript_path": str(self.transcript)}
        program = home.path / "claude"
        if not program.exists():
            program.symlink_to(Path(sys.executable).resolve())
        payloads = [self._payload("SessionStart", source="startup"), self._payload("UserPromptSubmit", prompt="hello")]
        code = f"CALL = {CALL!r}\n{PROGRAM}"
        self._process = subprocess.Popen(
            [program, "-S", "-c", code, sys.executable, str(home.socket), *payloads],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"called\n"
        self.pid = self._process.pid

    def _payload(self, event: str, **more: Any) -> str:
        return json.dumps({**self._place, "hook_event_name": event, **more})

    def say(self, role: str, text: str, key: str) -> None:
        """Write a line to its transcript."""
        line = {"type": role, "uuid": key, "timestamp": "2026-01-01T00:00:00Z", "message": {"content": text}}
        with self.transcript.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate(timeout=PATIENCE_SECONDS)


@pytest.fixture
def begin(home: Home) -> Iterator[Callable[[], Program]]:
    begun: list[Program] = []

    def make() -> Program:
        begun.append(Program(home))
        return begun[-1]

    yield make
    for program in begun:
        program.kill()


def session(home: Home) -> dict[str, Any]:
    client = home.connect()
    found: dict[str, Any] = client.call("db.session.get", session_id=NAME)["result"]
    client.close()
    return found


def wait_until_over(home: Home) -> dict[str, Any]:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (found := session(home))["ended_at"] is None:
        assert time.monotonic() < deadline, found
        time.sleep(0.1)
    return found


@pytest.mark.parametrize(("answer", "outcome"), [("Blue.", "success"), (None, "error")])
def test_a_session_ends_with_its_process(
    home: Home, begin: Callable[[], Program], answer: str | None, outcome: str
) -> None:
    home.serve()
    program = begin()
    assert (session(home)["pid"], session(home)["process_started"]) == (program.pid, started_at(program.pid))
    program.say("user", "hello", "u1")
    if answer is not None:
        program.say("assistant", answer, "u2")
    program.kill()
    found = wait_until_over(home)
    assert (found["outcome"], f"process {program.pid} disappeared" in found["notes"]) == (outcome, True)


def test_a_session_whose_process_ended_while_no_daemon_was_there_is_over(
    home: Home, begin: Callable[[], Program]
) -> None:
    daemon = home.serve()
    program = begin()
    daemon.kill()
    daemon.wait(PATIENCE_SECONDS)
    program.kill()
    home.serve()
    assert wait_until_over(home)["outcome"] == "error"


def test_a_session_that_goes_on_in_another_process_is_open(home: Home, begin: Callable[[], Program]) -> None:
    home.serve()
    first = begin()
    first.kill()
    wait_until_over(home)
    second = begin()
    assert (session(home)["ended_at"], session(home)["pid"]) == (None, second.pid)
    second.kill()
    wait_until_over(home)


@pytest.mark.parametrize("is_another_s", [False, True])
def test_a_session_of_which_only_a_gap_tells_is_over_when_its_process_is(home: Home, is_another_s: bool) -> None:
    """The pid may be that of another process by now."""
    done = subprocess.Popen(["/bin/true"])
    done.wait(PATIENCE_SECONDS)
    pid, at = (os.getpid(), 1) if is_another_s else (done.pid, int(time.time()))
    gap = {"at": at, "vendor": "claude", "why": "down", "pid": pid, "session_id": "w1"}
    place = {"hook_event_name": "Stop", "cwd": str(home.path), "transcript_path": str(home.path / "w1.jsonl")}
    (home.path / "gaps.jsonl").write_text(json.dumps({**gap, **place}) + "\n")
    home.serve()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (home.path / "gaps.jsonl").exists() or list(home.path.glob("gaps*")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert wait_until_over(home)["outcome"] == "success"


def test_only_what_is_gone_is_ended_and_only_when_its_transcript_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stand-in for the engine, which says what is open and is told what has vanished."""
    done = subprocess.Popen(["/bin/true"])
    done.wait(PATIENCE_SECONDS)
    pid, start = os.getpid(), started_at(os.getpid()) or 0.0
    processes = {1: (pid, start), 2: (pid, start - 100), 3: (done.pid, start)}
    told: list[tuple[str, int]] = []
    looked = asyncio.Event()

    async def ask(request: Any) -> Any:
        if isinstance(request, Vanish):
            told.append(("vanished", request.session_id))
            return None
        if told:
            looked.set()
        items = [OpenProcess(session_id=key, pid=of, started=at) for key, (of, at) in processes.items()]
        return OpenProcesses(items=[] if told else items)

    async def read(session_id: int) -> None:
        told.append(("read", session_id))

    async def live() -> None:
        following = asyncio.create_task(VanishedAgents(ask, read, None).follow())
        await asyncio.wait_for(looked.wait(), PATIENCE_SECONDS)
        following.cancel()

    monkeypatch.setattr(vanished_agents, "_INTERVAL_SECONDS", 0.0)
    asyncio.run(live())
    assert told == [("read", 2), ("vanished", 2), ("read", 3), ("vanished", 3)]


def test_a_session_that_cannot_be_ended_keeps_none_behind_it_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stand-in for the engine."""
    ended: asyncio.Queue[int] = asyncio.Queue()

    async def ask(request: Any) -> Any:
        if isinstance(request, Vanish):
            ended.put_nowait(request.session_id)
        return OpenProcesses(items=[OpenProcess(session_id=key, pid=os.getpid(), started=1.0) for key in (1, 2)])

    async def read(session_id: int) -> None:
        if session_id == 1:
            raise ZeroDivisionError

    async def live() -> int:
        following = asyncio.create_task(VanishedAgents(ask, read, None).follow())
        first = await asyncio.wait_for(ended.get(), PATIENCE_SECONDS)
        following.cancel()
        return first

    monkeypatch.setattr(vanished_agents, "_INTERVAL_SECONDS", 0.0)
    assert asyncio.run(live()) == 2


def test_a_pid_that_the_program_does_not_have_here_is_not_believed() -> None:
    """It may be a number of another pid namespace, or somebody else's altogether."""
    caller = os.getpid()
    assert [find_process("nobody", caller, pid, None) for pid in (None, 1, caller, 2**22 + 1)] == [None] * 4
    assert find_process("nobody", 2**22 + 1, caller, None) is None


def test_a_program_of_another_name_is_known_by_what_it_says_but_a_shell_of_it_is_not_it() -> None:
    shell = subprocess.Popen(["/bin/sh", "-c", "cat; true"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert shell.stdin is not None
    assert shell.stdout is not None
    shell.stdin.write(b"here\n")
    shell.stdin.flush()
    assert shell.stdout.readline() == b"here\n"
    (caller,) = psutil.Process(shell.pid).children()
    found = [find_process("nobody", caller.pid, pid, "mill") for pid in (os.getpid(), shell.pid)]
    shell.communicate(timeout=PATIENCE_SECONDS)
    assert found == [HookProcess(pid=os.getpid(), started=started_at(os.getpid()) or 0.0, host="mill"), None]


def test_a_process_that_has_the_pid_only_since_is_another() -> None:
    pid = os.getpid()
    start = started_at(pid)
    assert start is not None
    assert find_former_process(pid, start + 1, "mill").started == start
    assert find_former_process(pid, start - 1, "mill").started == 0.0
