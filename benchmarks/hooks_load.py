"""The load: a process of its own in which many sessions call their hooks, or the echo that the shim is measured with.

    python -m benchmarks.hooks_load SOCKET PROJECT SESSIONS SECONDS EACH_PER_SECOND
    python -m benchmarks.hooks_load echo SOCKET

Each session says what the real programs said, with its own id and in the project: it starts, is told something, and
uses tools until the time is over. Each hook has a connection of its own. One JSON line says how it went.
"""

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, cast

import uvloop

_FIXTURES = Path(__file__).parent.parent / "tests" / "vendors" / "hooks" / "claude"
_BEGINNING = ("SessionStart.startup", "UserPromptSubmit")
_TOOLS = (
    "PreToolUse.Bash",
    "PostToolUse.Bash",
    "PreToolUse.Read",
    "PostToolUse.Read",
    "PreToolUse.Write",
    "PostToolUse.Write",
)


def payloads(project: Path, session: str) -> list[str]:
    """What one session says: its beginning, then the hooks of some tool calls."""
    return [_said(name, project, session) for name in (*_BEGINNING, *_TOOLS)]


def _said(name: str, project: Path, session: str) -> str:
    text = (_FIXTURES / f"{name}.json").read_text(encoding="utf-8").replace("/home/dev/project", str(project))
    said: dict[str, Any] = json.loads(text)
    return json.dumps(said | {"session_id": session, "transcript_path": f"{project}/{session}.jsonl"})


def run_apart(arguments: list[str]) -> dict[str, Any]:
    """Run the load in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.hooks_load", *arguments]
    result: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return result


class _Session:
    """One session's hooks, one after the other."""

    def __init__(self, socket: str, project: Path, number: int) -> None:
        self._socket = socket
        said = payloads(project, f"session-{number}")
        lines = [self._line(text) for text in said]
        self._beginning, self._tools = lines[: len(_BEGINNING)], lines[len(_BEGINNING) :]
        self.latencies: list[float] = []
        self.errors = 0

    async def begin(self) -> None:
        for line in self._beginning:
            await self._call(line)
        self.latencies.clear()

    async def work(self, end: float, pause: float, delay: float) -> None:
        await asyncio.sleep(delay)
        due, number = time.perf_counter(), 0
        while time.perf_counter() < end:
            await self._call(self._tools[number % len(self._tools)])
            number, due = number + 1, due + pause
            if pause:
                await asyncio.sleep(max(0.0, due - time.perf_counter()))

    def _line(self, payload: str) -> bytes:
        params = {"vendor": "claude", "pid": 1, "payload": payload}
        return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "hooks.event", "params": params}).encode() + b"\n"

    async def _call(self, line: bytes) -> None:
        start = time.perf_counter()
        reader, writer = await asyncio.open_unix_connection(self._socket)
        writer.write(line)
        answer = await reader.readline()
        self.latencies.append(time.perf_counter() - start)
        self.errors += b'"result"' not in answer[:60]
        writer.close()


async def _load(socket: str, project: Path, sessions: int, seconds: float, each_per_second: float) -> dict[str, Any]:
    all_of_them = [_Session(socket, project, number) for number in range(sessions)]
    for session in all_of_them:
        await session.begin()
    pause = 1 / each_per_second if each_per_second else 0.0
    start = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number, session in enumerate(all_of_them):
            group.create_task(session.work(start + seconds, pause, pause * number / sessions))
    elapsed = time.perf_counter() - start
    taken = sorted(latency * 1000 for session in all_of_them for latency in session.latencies)
    return {
        "seconds": elapsed,
        "per_second": len(taken) / elapsed,
        "p50_ms": taken[len(taken) // 2],
        "p95_ms": taken[int(len(taken) * 0.95)],
        "p99_ms": taken[int(len(taken) * 0.99)],
        "errors": sum(session.errors for session in all_of_them),
    }


class _Echo(asyncio.Protocol):
    """Answers every line with nothing to say."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if data.endswith(b"\n"):
            self._transport.write(b'{"jsonrpc":"2.0","id":1,"result":{"output":null,"status":0}}\n')


async def _echo(socket: str) -> None:
    server = await asyncio.get_running_loop().create_unix_server(_Echo, socket)
    print("listening", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    if sys.argv[1] == "echo":
        uvloop.run(_echo(sys.argv[2]))
    else:
        path, folder, *numbers = sys.argv[1:]
        count, length, pace = int(numbers[0]), float(numbers[1]), float(numbers[2])
        print(json.dumps(uvloop.run(_load(path, Path(folder), count, length, pace))))
