"""What a hook costs the agent that waits for it: the whole process, and the daemon's part with fifty agents at once.

The floor is the interpreter that starts and does nothing. The echo is the same shim with a socket that answers at once
and remembers nothing.
"""

import json
import os
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psutil

from benchmarks import hooks_load
from benchmarks.daemons import places_in, running
from benchmarks.harness import Row, percentile, scratch, timed
from benchmarks.starting import make_repository
from ramet.client.connection import Connection
from ramet.config.settings import DaemonSettings, Places, Settings
from ramet.hooks.program import write_program
from ramet.vendors import registry

_SESSIONS = 50
_EACH_PER_SECOND = 10
"""Five tool calls in a second, each with a hook before and one after."""


def measure(thorough: bool) -> Iterator[Row]:
    """One hook at a time, then fifty sessions at the pace of busy agents, then as fast as they can."""
    with scratch() as folder:
        project = folder / "project"
        project.mkdir()
        make_repository(project)
        places = places_in(folder / "home")
        with running(places) as daemon:
            yield from _whole_process(folder, places, project, 150 if thorough else 50)
            seconds = 20 if thorough else 5
            yield _at_once(places, project, daemon.pid, seconds, _EACH_PER_SECOND)
            yield _at_once(places, project, daemon.pid, seconds, 0)


def _whole_process(folder: Path, places: Places, project: Path, rounds: int) -> Iterator[Row]:
    """The program alone, and by the command line that agents' settings have, which needs a shell to find it."""
    interpreter = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    echo = places_in(folder / "echo")
    settings = Settings(daemon=DaemonSettings(autostart=False))
    program, echoing = write_program(settings, places), write_program(settings, echo)
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "RAMET_HOME": str(places.home)}
    payload = json.loads(hooks_load.payloads(project, "one")[-1])
    run = partial(subprocess.run, env=environ, capture_output=True, check=True)
    commands = {
        "floor": [interpreter, "-I", "-S", "-c", "pass"],
        "echo": [str(echoing), "claude"],
        "hook": [str(program), "claude"],
        "command_line": ["/bin/sh", "-c", registry.settings()["claude"].command],
    }
    taken: dict[str, list[float]] = {name: [] for name in commands}
    with _echo(echo.socket):
        for number in range(rounds):
            for name, command in commands.items():
                said = json.dumps(payload | {"tool_use_id": f"{name}{number}"}).encode()  # equal hooks count once
                taken[name].append(timed(partial(run, command, input=said)) * 1000)
    if any((home / "gaps.jsonl").exists() for home in (places.home, echo.home)):
        raise RuntimeError("some hooks were not answered")
    median = {f"{name}_ms": round(statistics.median(values), 2) for name, values in taken.items()}
    slow = {
        f"{name}_p{share}_ms": round(percentile(values, share / 100), 2)
        for name, values in taken.items()
        for share in (95, 99)
    }
    for name, what in (
        ("hook", "a hook with a durable write, whole process"),
        ("command_line", "the same through the installed command line"),
    ):
        ratio = median[f"{name}_ms"] / median["floor_ms"]
        yield Row(what, "python3 -I -S -c pass", "<= 1.5", ratio, ratio <= 1.5, median | slow)


@contextmanager
def _echo(path: Path) -> Iterator[None]:
    """A socket that answers at once, in a process of its own."""
    path.parent.mkdir(parents=True)
    command = [sys.executable, "-m", "benchmarks.hooks_load", "echo", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    try:
        yield
    finally:
        process.terminate()
        process.communicate()


def _at_once(places: Places, project: Path, pid: int, seconds: float, each_per_second: float) -> Row:
    """The daemon's part, each event on a connection of its own, as shims have them."""
    daemon = psutil.Process(pid)
    arguments = [str(places.socket), str(project), str(_SESSIONS), str(seconds), str(each_per_second)]
    before, watched = daemon.cpu_times(), _Watch(daemon)
    result = hooks_load.run_apart(arguments)
    after = daemon.cpu_times()
    busy = (after.user + after.system - before.user - before.system) / result["seconds"]
    details = {
        "events_per_second": round(result["per_second"]),
        "p50_ms": round(result["p50_ms"], 2),
        "p95_ms": round(result["p95_ms"], 2),
        "p99_ms": round(result["p99_ms"], 2),
        "errors": result["errors"],
        "failed_inside": _failed(places),
        "daemon_cpu_percent": round(busy * 100, 1),
        "cpu_us_each": round(busy / result["per_second"] * 1e6),
        "daemon_mb": round(watched.most() / 1e6),
    }
    pace = f"{each_per_second:g} hooks a second each" if each_per_second else "as fast as they can"
    return Row(
        f"{_SESSIONS} sessions at once, {pace}", "its p95 in ms, in the daemon", "", result["p95_ms"], True, details
    )


def _failed(places: Places) -> int:
    with Connection(str(places.socket), 30) as connection:
        return sum(row["failed"] for row in connection.call("hooks.timings")["items"])


class _Watch:
    """The most memory that a process has had."""

    def __init__(self, process: psutil.Process) -> None:
        self._process = process
        self._most = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def most(self) -> int:
        self._is_over.set()
        self._thread.join()
        return self._most

    def _look(self) -> None:
        while not self._is_over.wait(0.2):
            self._most = max(self._most, self._process.memory_info().rss)
