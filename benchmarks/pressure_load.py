"""The steady load beside which something else happens: a process of its own with hooks and durable appends.

    python -m benchmarks.pressure_load SOCKET PROJECT HOOK SESSION

Three streams run at a fixed pace until the process is terminated: hooks on one connection, appends on one connection,
and HOOK, the program that agents call, as a process. Each one is due at its time, whether the last one was answered or
not, and its duration counts from there. So a daemon that stops for a second shows in every hook of that second.

One JSON line for each: the stream, the time at which it was due, its duration in seconds, and whether it was answered.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import uvloop

from benchmarks.corpus import messages
from benchmarks.hooks_load import payloads

_HOOKS_PER_SECOND = 20.0
_APPENDS_PER_SECOND = 20.0
_PROCESSES_PER_SECOND = 4.0
_MOST_PROCESSES = 12
"""A daemon that does not answer must not fill the machine with waiting hooks."""


def _tell(stream: str, due: float, *, is_answered: bool) -> None:
    print(json.dumps([stream, due, time.monotonic() - due, is_answered]), flush=True)


async def _pace(per_second: float) -> Any:
    """The times at which something is due, each of them when it is reached."""
    due = time.monotonic()
    while True:
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        yield due
        due += 1 / per_second


class _Stream:
    """Requests on one connection, several under way if need be."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._waiting: dict[int, float] = {}

    async def run(self, socket: str, requests: Any, per_second: float) -> None:
        reader, writer = await asyncio.open_unix_connection(socket, limit=2**24)
        answers = asyncio.ensure_future(self._read(reader))
        try:
            number = 0
            async for due in _pace(per_second):
                number += 1
                self._waiting[number] = due
                method, params = requests(number)
                request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
                writer.write(json.dumps(request).encode() + b"\n")
                if answers.done():
                    return
        finally:
            answers.cancel()
            for due in self._waiting.values():
                _tell(self._name, due, is_answered=False)

    async def _read(self, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            answer = json.loads(line)
            due = self._waiting.pop(answer.get("id"), None)
            if due is not None:
                _tell(self._name, due, is_answered="result" in answer)


async def _processes(program: str, said: list[dict[str, Any]]) -> None:
    """The program that agents call. It ends with 0 also if no daemon answered: the file of its gaps counts those."""
    running: set[asyncio.Task[None]] = set()
    environ = {"PATH": os.environ["PATH"], "HOME": str(Path(program).parent)}
    number = 0
    async for due in _pace(_PROCESSES_PER_SECOND):
        number += 1
        if len(running) < _MOST_PROCESSES:
            line = json.dumps(said[number % len(said)] | {"tool_use_id": f"process{number}"}).encode()
            task = asyncio.ensure_future(_process(program, environ, line, due))
            running.add(task)
            task.add_done_callback(running.discard)
        else:
            _tell("process", due, is_answered=False)


async def _process(program: str, environ: dict[str, str], line: bytes, due: float) -> None:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(program, "claude", stdin=pipe, stdout=pipe, stderr=pipe, env=environ)
    await process.communicate(line)
    _tell("process", due, is_answered=process.returncode == 0)


async def _run(socket: str, project: Path, program: str, session: int) -> None:
    *beginning, texts = *(json.loads(text) for text in payloads(project, "pressure")), messages(200)
    first, tools = beginning[:2], beginning[2:]

    def hook(number: int) -> tuple[str, dict[str, Any]]:
        said = first[number - 1] if number <= len(first) else tools[number % len(tools)]
        payload = json.dumps(said | {"tool_use_id": f"call{number}"})
        return "hooks.event", {"vendor": "claude", "pid": 1, "payload": payload}

    def append(number: int) -> tuple[str, dict[str, Any]]:
        text = f"{time.time_ns()} {texts[number % len(texts)]}"
        return "db.messages.append", {"session_id": session, "role": "user", "content": text}

    everything = asyncio.gather(
        _Stream("hook").run(socket, hook, _HOOKS_PER_SECOND),
        _Stream("append").run(socket, append, _APPENDS_PER_SECOND),
        _processes(program, tools),
    )
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, everything.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await everything


if __name__ == "__main__":
    uvloop.run(_run(sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
