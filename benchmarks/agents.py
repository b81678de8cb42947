"""Many agents at once on one daemon: how long its answers take meanwhile, and what memory it and its keepers need."""

import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from benchmarks.daemons import places_in, running
from benchmarks.harness import Row, percentile, scratch, timed
from benchmarks.jobs import wait_until
from ramet.client.connection import Connection

_TALKER = Path(__file__).with_name("talker.py")
_TOGETHER_SECONDS = 10.0
_LONGEST_SECONDS = 300.0
_LIMIT_MB = 200.0


@dataclass
class Latencies:
    """What a client had to wait for, in seconds."""

    ping: list[float] = field(default_factory=list)
    write: list[float] = field(default_factory=list)


@dataclass
class Seen:
    """What was seen of one run."""

    before: Latencies = field(default_factory=Latencies)
    starting: Latencies = field(default_factory=Latencies)
    together: Latencies = field(default_factory=Latencies)
    after: Latencies = field(default_factory=Latencies)
    start_seconds: float = 0.0
    end_seconds: float = 0.0
    """From when the last of them could have ended by itself to the outcome of all."""
    daemon_mb: list[float] = field(default_factory=list)
    keeper_mb: list[float] = field(default_factory=list)
    daemon_cores: float = 0.0
    keeper_cores: float = 0.0
    """What the daemon and all the keepers took of the processor while all agents were running."""


def measure(thorough: bool) -> Iterator[Row]:
    """Two hundred agents, or fifty when there is no time."""
    count = 200 if thorough else 50
    bare = _bare(count)
    seen = _watch(count)
    starting = {"seconds": seen.start_seconds, "bare_seconds": bare, "ms_each": seen.start_seconds / count * 1000}
    yield _row(f"{count} agents: until all are running", "the processes alone", seen.start_seconds / bare, starting)
    for name in ("ping", "write"):
        what = "daemon.ping" if name == "ping" else "a small durable write"
        before = getattr(seen.before, name)
        for when, latencies in (("while they start", seen.starting), ("with all of them running", seen.together)):
            yield _latency(f"{what} {when}, median", before, getattr(latencies, name))
        yield _latency(f"{what} afterwards, median", before, getattr(seen.after, name))
    highest = max(seen.daemon_mb)
    memory = {"before_mb": seen.daemon_mb[0], "after_mb": seen.daemon_mb[-1], "cores": seen.daemon_cores}
    yield _row(f"daemon memory with {count} agents", "MB resident", highest, memory, reach=_LIMIT_MB)
    keeper = statistics.median(seen.keeper_mb)
    yield _row(
        "a keeper's memory",
        "MB proportional (PSS)",
        keeper,
        {"all_mb": sum(seen.keeper_mb), "all_cores": seen.keeper_cores},
    )
    yield _row("from their end to the last outcome", "seconds", seen.end_seconds, {"agents": count})


def _row(what: str, against: str, ratio: float, details: dict[str, float], reach: float | None = None) -> Row:
    rounded = {name: round(value, 2) for name, value in details.items()}
    is_reached = reach is None or ratio <= reach
    return Row(what, against, "" if reach is None else f"<= {reach:g}", ratio, is_reached, rounded)


def _latency(what: str, before: list[float], during: list[float]) -> Row:
    details: dict[str, float] = {}
    for name, values in (("", during), ("before_", before)):
        details |= {f"{name}p50_ms": percentile(values, 0.5) * 1000, f"{name}p99_ms": percentile(values, 0.99) * 1000}
    return _row(what, "before", percentile(during, 0.5) / percentile(before, 0.5), details)


def _bare(count: int) -> float:
    """Seconds until so many of the same processes are running, one started after the other."""
    with scratch() as folder:
        talkers: list[subprocess.Popen[bytes]] = []

        def start() -> None:
            talkers.extend(
                subprocess.Popen(_program(folder, 0), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
                for _ in range(count)
            )
            wait_until(lambda: _count(folder) == count)

        try:
            seconds = timed(start)
        finally:
            (folder / "go").touch()
            for talker in talkers:
                talker.wait(60)
    return seconds


def _program(folder: Path, seconds: float) -> list[str]:
    return [sys.executable, "-I", "-S", str(_TALKER), str(folder), str(seconds)]


def _watch(count: int) -> Seen:
    seen = Seen()
    with scratch() as folder:
        talking, project, places = folder / "talking", folder / "project", places_in(folder)
        talking.mkdir()
        project.mkdir()
        profile = {"driver": "command", "program": _program(talking, _TOGETHER_SECONDS)}
        (project / "ramet.yaml").write_text(json.dumps({"drivers": {"profiles": {"talker": profile}}}))
        with running(places) as process, Connection(str(places.socket), 60) as connection:
            daemon = psutil.Process(process.pid)
            connection.call("db.project.upsert", {"path": str(project)})
            for number in range(count):
                request = {"prompt": f"talk, number {number}", "task": str(project / "task"), "driver": "talker"}
                connection.call("work.add", request)
            _follow(seen, connection, daemon, _Run(str(places.socket), count), talking)
    return seen


class _Run(threading.Thread):
    """Somebody who asked for the work and waits for its end."""

    def __init__(self, socket: str, count: int) -> None:
        super().__init__()
        self.count = count
        self._socket = socket
        self._answer: Any = None

    def run(self) -> None:
        with Connection(self._socket, _LONGEST_SECONDS) as connection:
            environment = {"PATH": os.environ["PATH"]}
            self._answer = connection.call(
                "work.run", {"workers": self.count, "once": True, "environment": environment}
            )

    def check(self) -> None:
        self.join(_LONGEST_SECONDS)
        assert self._answer is not None, "the run did not end"
        assert self._answer["finished"] == {"success": self.count}, self._answer


def _follow(seen: Seen, connection: Connection, daemon: psutil.Process, run: _Run, talking: Path) -> None:
    """Ask all the time: before, while they start, while all of them talk, until they have ended, and afterwards."""
    deadline = time.monotonic() + 3
    seen.daemon_mb.append(_resident_mb(daemon))
    _probe(connection, seen.before, lambda: time.monotonic() > deadline)
    run.start()
    seen.start_seconds = timed(
        lambda: _probe(connection, seen.starting, lambda: _count(talking) >= run.count or not run.is_alive())
    )
    keepers = _keepers(daemon)
    seen.keeper_mb = [_proportional_mb(keeper) for keeper in keepers]
    spent, start = (_cpu_seconds([daemon]), _cpu_seconds(keepers)), time.monotonic()
    (talking / "go").touch()
    end = time.monotonic() + _TOGETHER_SECONDS
    _probe(connection, seen.together, lambda: time.monotonic() > end - 1)
    elapsed = time.monotonic() - start
    seen.daemon_cores = (_cpu_seconds([daemon]) - spent[0]) / elapsed
    seen.keeper_cores = (_cpu_seconds(keepers) - spent[1]) / elapsed
    seen.daemon_mb.append(_resident_mb(daemon))
    run.check()
    seen.end_seconds = time.monotonic() - end
    seen.daemon_mb.append(_resident_mb(daemon))
    deadline = time.monotonic() + 3
    _probe(connection, seen.after, lambda: time.monotonic() > deadline)


def _probe(connection: Connection, latencies: Latencies, is_over: Callable[[], bool]) -> None:
    """A ping and a durable write, up to twenty times a second."""
    end, number = time.monotonic() + _LONGEST_SECONDS, 0
    while not is_over():
        assert time.monotonic() < end, "the agents did not start in time"
        number += 1
        latencies.ping.append(timed(partial(connection.call, "daemon.ping")))
        commit = {"branch": "probe", "text": f"number {number}"}
        latencies.write.append(timed(partial(connection.call, "history.commit", commit)))
        time.sleep(0.05)


def _count(folder: Path) -> int:
    return sum(1 for _ in folder.iterdir())


def _keepers(daemon: psutil.Process) -> list[psutil.Process]:
    return [child for child in daemon.children() if "ramet.keeper" in child.cmdline()]


def _cpu_seconds(processes: list[psutil.Process]) -> float:
    return float(sum(sum(process.cpu_times()[:2]) for process in processes))


def _resident_mb(process: psutil.Process) -> float:
    return float(process.memory_info().rss / 1e6)


def _proportional_mb(process: psutil.Process) -> float:
    """What a process needs, shared pages counted in parts; resident memory where the system does not say."""
    memory = process.memory_full_info()
    return float(getattr(memory, "pss", memory.rss) / 1e6)
