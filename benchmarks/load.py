"""The load: a process of its own that keeps one request under way on each of its connections.

    python -m benchmarks.load SOCKET SECONDS SESSION…

It prints one JSON line: how many were answered, and the latencies in microseconds.
"""

import asyncio
import json
import sys
import time
from functools import partial
from typing import cast

import msgspec
import uvloop

from benchmarks.corpus import messages

_MESSAGES = 4000
_FASTEST_PER_SECOND = 16_000


class Client(asyncio.Protocol):
    """One connection, one request under way."""

    _transport: asyncio.Transport

    def __init__(self, lines: list[bytes], latencies: list[float]) -> None:
        self._lines = lines
        self._latencies = latencies
        self._rest = b""
        self._sent = 0.0
        self.errors = 0
        self.is_open = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def send(self) -> None:
        """Ask for one more append."""
        line = self._lines.pop()
        self._sent = time.perf_counter()
        self._transport.write(line)

    def data_received(self, data: bytes) -> None:
        self._rest += data
        if not self._rest.endswith(b"\n"):
            return
        self._latencies.append(time.perf_counter() - self._sent)
        self.errors += b'"error"' in self._rest[:60]
        self._rest = b""
        if self.is_open and self._lines:
            self.send()


def _requests(session: int, texts: list[str], count: int) -> list[bytes]:
    """That many appends, no two alike, made beforehand so that the load costs little while it is measured."""
    lines = []
    for number in range(count):
        text = f"{session}.{number} {texts[(session * 7919 + number) % len(texts)]}"
        params = {"session_id": session, "role": "assistant", "content": text}
        request = {"jsonrpc": "2.0", "id": number, "method": "db.messages.append", "params": params}
        lines.append(msgspec.json.encode(request) + b"\n")
    return lines


def _same(client: Client) -> Client:
    return client


async def run(socket: str, seconds: float, sessions: list[int]) -> dict[str, object]:
    """Keep every connection busy for that long."""
    texts = messages(_MESSAGES)
    latencies: list[float] = []
    loop = asyncio.get_running_loop()
    clients = []
    each = int(_FASTEST_PER_SECOND * seconds / len(sessions)) + 1
    for session in sessions:
        client = Client(_requests(session, texts, each), latencies)
        await loop.create_unix_connection(partial(_same, client), socket)
        clients.append(client)
    start = time.perf_counter()
    for client in clients:
        client.send()
    await asyncio.sleep(seconds)
    elapsed = time.perf_counter() - start
    done = len(latencies)
    for client in clients:
        client.is_open = False
    await asyncio.sleep(0.2)
    micros = sorted(value * 1e6 for value in latencies)
    return {
        "per_second": done / elapsed,
        "p50_us": micros[len(micros) // 2],
        "p99_us": micros[int(len(micros) * 0.99)],
        "errors": sum(client.errors for client in clients),
    }


if __name__ == "__main__":
    print(json.dumps(uvloop.run(run(sys.argv[1], float(sys.argv[2]), [int(name) for name in sys.argv[3:]]))))
