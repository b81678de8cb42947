"""Workers on a daemon: a process of its own in which each connection claims and completes until nothing is left.

    python -m benchmarks.jobs_load SOCKET CONNECTIONS

It prints one JSON line: how many were completed, in how many seconds.
"""

import asyncio
import json
import sys
import time
from collections.abc import Mapping
from functools import partial
from typing import cast

import msgspec
import uvloop


class Result(msgspec.Struct):
    """What a claim or a completion answers, as far as a worker needs it."""

    id: int | None = None
    generation: int | None = None
    refused: str | None = None
    outcome: str | None = None


class Reply(msgspec.Struct):
    result: Result


class Worker(asyncio.Protocol):
    """One connection, one request under way."""

    _transport: asyncio.Transport

    def __init__(self, name: str, ended: "asyncio.Future[None]") -> None:
        self._claim = _line("work.claim", {"worker": name})
        self._ended = ended
        self._rest = b""
        self._decode = msgspec.json.Decoder(Reply).decode
        self.completed = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def claim(self) -> None:
        """Ask for the next one."""
        self._transport.write(self._claim)

    def data_received(self, data: bytes) -> None:
        self._rest += data
        if not self._rest.endswith(b"\n"):
            return
        line, self._rest = self._rest, b""
        try:
            self._answer(self._decode(line).result)
        except msgspec.ValidationError:
            self._ended.set_exception(RuntimeError(line.decode()))

    def _answer(self, result: Result) -> None:
        if result.refused is not None:
            self._ended.set_result(None)
        elif result.outcome == "success":
            self.completed += 1
            self.claim()
        else:
            done = {"effort_id": result.id, "generation": result.generation, "outcome": "success"}
            self._transport.write(_line("work.complete", done | {"output_content": "nothing"}))


def _line(method: str, params: Mapping[str, object]) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + b"\n"


def _same(worker: Worker) -> Worker:
    return worker


async def run(socket: str, connections: int) -> dict[str, float]:
    """Let that many workers empty the queue."""
    loop = asyncio.get_running_loop()
    ends = [loop.create_future() for _ in range(connections)]
    workers = [Worker(f"worker/{number}", end) for number, end in enumerate(ends)]
    for worker in workers:
        await loop.create_unix_connection(partial(_same, worker), socket)
    start = time.perf_counter()
    for worker in workers:
        worker.claim()
    await asyncio.gather(*ends)
    seconds = time.perf_counter() - start
    return {"count": sum(worker.completed for worker in workers), "seconds": seconds}


if __name__ == "__main__":
    print(json.dumps(uvloop.run(run(sys.argv[1], int(sys.argv[2])))))
