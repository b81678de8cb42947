"""What a hook and a durable write take while the index is being built, against a daemon that has nothing to index.

    python -m benchmarks.search_beside 20000

Two daemons run side by side. One has messages that its index has yet to read, the other has none. Each request goes to
one and then to the other, so that both have the same machine in the same moment.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.daemons import make_sessions, places_in, running
from benchmarks.harness import percentile
from benchmarks.hooks_load import payloads
from benchmarks.search_load import fill
from ramet.client.connection import Connection

_PAUSE_SECONDS = 0.004


def measure(messages: int, rounds: int) -> dict[str, Any]:
    """The 95th percentiles of both daemons, and their ratios."""
    with tempfile.TemporaryDirectory(prefix="r") as first, tempfile.TemporaryDirectory(prefix="r") as second:
        building, idle = Path(first), Path(second)
        fill(building, messages)
        with running(places_in(building)), running(places_in(idle)):
            return _compare(building, idle, rounds)


def _compare(building: Path, idle: Path, rounds: int) -> dict[str, Any]:
    asks = {name: _Asker(folder) for name, folder in (("building", building), ("idle", idle))}
    asks["building"].connection.call("memory.search", {"query": "begin"})  # which wakes the feeder
    before = asks["building"].connection.call("search.status", {})
    times: dict[str, list[float]] = {f"{kind}_{name}": [] for kind in ("hook", "write") for name in asks}
    for number in range(rounds):
        for name, ask in asks.items():
            times[f"hook_{name}"].append(_timed(ask.hook, number))
            times[f"write_{name}"].append(_timed(ask.write, number))
        time.sleep(_PAUSE_SECONDS)
    after = asks["building"].connection.call("search.status", {})
    for ask in asks.values():
        ask.connection.close()
    p95 = {name: percentile(taken, 0.95) * 1000 for name, taken in times.items()}
    return {
        **{f"{name}_p95_ms": round(value, 2) for name, value in p95.items()},
        "hook_ratio": round(p95["hook_building"] / p95["hook_idle"], 2),
        "write_ratio": round(p95["write_building"] / p95["write_idle"], 2),
        "indexed_meanwhile": after["texts"] - before["texts"],
        "was_building": bool(after["is_building"]),
    }


class _Asker:
    """One daemon's client."""

    def __init__(self, folder: Path) -> None:
        places = places_in(folder)
        (self._session,) = make_sessions(places.socket, 1)
        self.connection = Connection(str(places.socket), 30)
        project = folder / "project"
        project.mkdir()
        beginning, prompt, *self._tools = payloads(project, "beside")
        for text in (beginning, prompt):
            self._call_hook(text)

    def hook(self, number: int) -> None:
        said = json.loads(self._tools[number % len(self._tools)])
        self._call_hook(json.dumps(said | {"tool_use_id": f"call{number}"}))

    def write(self, number: int) -> None:
        params = {"session_id": self._session, "role": "assistant", "content": f"a durable write, number {number}"}
        self.connection.call("db.messages.append", params)

    def _call_hook(self, text: str) -> None:
        self.connection.call("hooks.event", {"vendor": "claude", "pid": 1, "payload": text})


def _timed(work: Callable[[int], None], number: int) -> float:
    begun = time.perf_counter()
    work(number)
    return time.perf_counter() - begun


def main(arguments: list[str]) -> None:
    """Print the figures."""
    messages = int(arguments[0]) if arguments else 20_000
    print(json.dumps(measure(messages, 600), indent=2))


if __name__ == "__main__":
    main(sys.argv[1:])
