"""A request with a durable write behind it, through the socket, against the same work done raw."""

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.daemons import make_sessions, places_in, running
from benchmarks.floor import raw_appends
from benchmarks.harness import Row, scratch


def measure(thorough: bool) -> Iterator[Row]:
    """Fifty connections against fifty to a transaction; one connection against one."""
    rounds, seconds = (5, 4.0) if thorough else (3, 2.0)
    fifty = [_compare(50, seconds) for _ in range(rounds)]
    one = [_compare(1, seconds) for _ in range(rounds)]
    yield _row("RPC with a durable write, 50 connections", "raw, 50 per transaction", 0.4, fifty)
    tail = statistics.median(run["p99_us"] / run["p50_us"] for run in fifty)
    yield Row("the same, p99 / p50", "its own median", "<= 10", tail, tail <= 10, {"p50_us": _median(fifty, "p50_us")})
    yield _row("RPC with a durable write, 1 connection", "raw, 1 per transaction", 0.5, one)


def _row(what: str, against: str, reach: float, runs: list[dict[str, float]]) -> Row:
    ratio = statistics.median(run["per_second"] / run["floor"] for run in runs)
    details = {name: round(_median(runs, name)) for name in ("per_second", "floor", "p50_us", "p99_us")}
    return Row(what, against, f">= {reach}", ratio, ratio >= reach, details | {"errors": _median(runs, "errors")})


def _median(runs: list[dict[str, float]], name: str) -> float:
    return statistics.median(run[name] for run in runs)


def _compare(connections: int, seconds: float) -> dict[str, float]:
    """One run of the floor and one of the daemon, right behind each other, so that they meet the same machine."""
    with scratch() as folder:
        floor = raw_appends(folder, connections, seconds)
    with scratch() as folder:
        places = places_in(folder)
        with running(places):
            sessions = make_sessions(places.socket, connections)
            command = [sys.executable, "-m", "benchmarks.load", str(places.socket), str(seconds)]
            output = subprocess.run(
                [*command, *map(str, sessions)], check=True, stdout=subprocess.PIPE, text=True, timeout=120
            ).stdout
    return {"floor": floor, **json.loads(output)}
