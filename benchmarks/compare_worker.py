"""One of the two sides of a comparison: the figures of the installed Ramet, a short round at a time.

    python -m benchmarks.compare_worker

It prepares each figure when it is asked for it the first time. It reads the name of a figure from each line and prints
a JSON object: the figure, and others that came with it. In all of them less is better.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path

import psutil

import ramet
from benchmarks import hooks_load
from benchmarks.corpus import messages
from benchmarks.daemons import make_sessions, places_in, running
from benchmarks.harness import scratch, timed
from benchmarks.history import fill_history
from benchmarks.jobs import Site
from benchmarks.jobs_ramet import TASK, opened, work_off
from benchmarks.large_database import Sizes, fill
from benchmarks.process_figures import processor_seconds, proportional_mb
from benchmarks.starting import make_repository
from benchmarks.tree import opened as opened_tree
from benchmarks.tree import plant
from ramet.client.connection import Connection
from ramet.config.settings import DaemonSettings, Settings
from ramet.hooks.program import write_program

Figures = dict[str, float]
Round = Callable[[], Figures]

_PROCESSES = 6
_HOOKS = 40
_COMMITS = 40
_JOBS = 20
_TREE = 20_000
_MESSAGES = 50_000


def _floor(_: ExitStack) -> Round:
    """The same program on both sides: what the machine makes of equal work."""
    command = [_interpreter(), "-I", "-S", "-c", "pass"]
    return lambda: {"ms": _median_ms(partial(subprocess.run, command, check=True), _PROCESSES)}


def _help(_: ExitStack) -> Round:
    command = [str(Path(sys.executable).parent / "ramet"), "--help"]
    run = partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL)
    return lambda: {"ms": _median_ms(run, _PROCESSES)}


def _hook_process(stack: ExitStack) -> Round:
    folder = stack.enter_context(scratch())
    project = _project(folder)
    places = places_in(folder / "home")
    stack.enter_context(running(places))
    program = write_program(Settings(daemon=DaemonSettings(autostart=False)), places)
    said = json.loads(hooks_load.payloads(project, "one")[-1])
    numbers = count()

    def run() -> None:
        line = json.dumps(said | {"tool_use_id": f"call{next(numbers)}"}).encode()
        subprocess.run([program, "claude"], input=line, check=True, capture_output=True)

    return lambda: {"ms": _median_ms(run, _PROCESSES)}


def _hook(stack: ExitStack) -> Round:
    """Hooks on one connection, in a database that is not empty."""
    folder = stack.enter_context(scratch())
    project, home = _project(folder), folder / "home"
    home.mkdir()
    fill(home, Sizes().scaled(0.02))
    places = places_in(home)
    daemon = stack.enter_context(running(places))
    connection = stack.enter_context(Connection(str(places.socket), 60))
    *beginning, pre, post = hooks_load.payloads(project, "one")
    numbers = count()

    def call(text: str) -> None:
        said = json.loads(text) | {"tool_use_id": f"call{next(numbers) // 2}"}
        connection.call("hooks.event", {"vendor": "claude", "pid": 1, "payload": json.dumps(said)})

    def one_round() -> Figures:
        before = processor_seconds(daemon.pid)
        taken = [timed(partial(call, pre)) + timed(partial(call, post)) for _ in range(_HOOKS // 2)]
        used = processor_seconds(daemon.pid) - before
        return {"ms": statistics.median(taken) * 500, "processor_ms": used * 1000 / _HOOKS}

    for text in beginning:
        call(text)
    return one_round


def _requests(connections: int) -> Callable[[ExitStack], Round]:
    def prepare(stack: ExitStack) -> Round:
        places = places_in(stack.enter_context(scratch()))
        daemon = stack.enter_context(running(places))
        sessions = make_sessions(places.socket, connections)
        command = [sys.executable, "-m", "benchmarks.load", str(places.socket), "1", *map(str, sessions)]

        def one_round() -> Figures:
            before, begun = processor_seconds(daemon.pid), time.perf_counter()
            done = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            elapsed, used = time.perf_counter() - begun, processor_seconds(daemon.pid) - before
            assert not done["errors"]
            assert elapsed > 1
            return {"us": 1e6 / done["per_second"], "processor_us": used * 1e6 / done["per_second"]}

        return one_round

    return prepare


def _claim(stack: ExitStack) -> Round:
    local = stack.enter_context(opened(Site(stack.enter_context(scratch()))))
    local.db.project.upsert("/bench")

    def one_round() -> Figures:
        for _ in range(_JOBS):
            local.work.add("nothing", task=TASK)
        before = time.process_time()
        us = timed(partial(work_off, local, _JOBS)) * 1e6 / _JOBS
        return {"us": us, "processor_us": (time.process_time() - before) * 1e6 / _JOBS}

    return one_round


def _compile(stack: ExitStack) -> Round:
    """A branch of 10,000 commits: the first time in a process that has it open, and after one more commit."""
    folder = stack.enter_context(scratch())
    fill_history(folder, "main", messages(10_000))
    numbers = count()

    def one_round() -> Figures:
        with ramet.open(folder / "ramet.db") as local:
            before = time.process_time()
            cold = timed(partial(local.history.compile, "main"))
            used = time.process_time() - before
            local.history.commit("main", f"one more, number {next(numbers)}")
            warm = timed(partial(local.history.compile, "main"))
        return {"ms": cold * 1000, "processor_ms": used * 1000, "after_one_append_ms": warm * 1000}

    return one_round


def _commit(stack: ExitStack) -> Round:
    folder = stack.enter_context(scratch())
    fill(folder, Sizes().scaled(0.1))
    local = stack.enter_context(ramet.open(folder / "ramet.db"))
    numbers, texts = count(), messages(_COMMITS)

    def one_round() -> Figures:
        before = time.process_time()
        taken = [timed(partial(local.history.commit, "long", f"{next(numbers)} {text}")) for text in texts]
        used = time.process_time() - before
        return {"us": statistics.median(taken) * 1e6, "processor_us": used * 1e6 / len(texts)}

    return one_round


def _fork(stack: ExitStack) -> Round:
    folder = stack.enter_context(scratch())
    fill_history(folder, "main", messages(200))
    local = stack.enter_context(ramet.open(folder / "ramet.db"))
    numbers = count()

    def one_round() -> Figures:
        before = time.process_time()
        taken = [
            timed(partial(local.history.branch, f"fork/{next(numbers)}", from_="main")) * 1e6 for _ in range(_COMMITS)
        ]
        return {"us": statistics.median(taken), "processor_us": (time.process_time() - before) * 1e6 / _COMMITS}

    return one_round


def _tree(stack: ExitStack) -> Round:
    site = stack.enter_context(opened_tree(stack.enter_context(scratch()), None))
    plant(site, _TREE)

    def one_round() -> Figures:
        before = time.process_time()
        ms = timed(partial(site.ask, "spawn.tree", session_id=1)) * 1000
        return {"ms": ms, "processor_ms": (time.process_time() - before) * 1000}

    return one_round


def _memory(stack: ExitStack) -> Round:
    """The daemon, and all its processes, after a second of appends and some pages of messages."""
    home = stack.enter_context(scratch())
    fill(home, Sizes().scaled(_MESSAGES / Sizes().messages))
    places = places_in(home)
    daemon = stack.enter_context(running(places))
    sessions = make_sessions(places.socket, 50)
    command = [sys.executable, "-m", "benchmarks.load", str(places.socket), "1", *map(str, sessions)]

    def one_round() -> Figures:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with Connection(str(places.socket), 30) as connection:
            for session in sessions:
                connection.call("db.messages.list", {"session_id": session, "limit": 1000})
        resident = psutil.Process(daemon.pid).memory_info().rss
        return {"resident_mb": resident / 1e6, "all_mb": proportional_mb(daemon.pid)}

    return one_round


FIGURES: dict[str, tuple[str, Callable[[ExitStack], Round]]] = {
    "floor": ("python3 -I -S -c pass (equal on both sides)", _floor),
    "help": ("ramet --help", _help),
    "hook process": ("a hook, whole process", _hook_process),
    "hook": ("a hook on one connection", _hook),
    "rpc 50": ("RPC with a durable write, 50 connections", _requests(50)),
    "rpc 1": ("RPC with a durable write, 1 connection", _requests(1)),
    "claim": ("claim + complete, in process", _claim),
    "compile": ("compile of 10,000 commits, cold", _compile),
    "commit": ("commit at depth 16,000", _commit),
    "fork": ("fork of 100,000 tokens", _fork),
    "tree": (f"tree of {_TREE:,} sessions", _tree),
    "memory": (f"the daemon's memory, {_MESSAGES:,} messages", _memory),
}


def _project(folder: Path) -> Path:
    project = folder / "project"
    project.mkdir()
    make_repository(project)
    return project


def _interpreter() -> str:
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def _median_ms(run: Callable[[], object], times: int) -> float:
    return statistics.median(timed(run) for _ in range(times)) * 1000


def main() -> None:
    """Answer until the input ends."""
    with ExitStack() as stack:
        prepared: dict[str, Round] = {}
        for line in sys.stdin:
            name = line.strip()
            if name not in prepared:
                prepared[name] = FIGURES[name][1](stack)
                prepared[name]()  # the first one is warmer or colder than the others
            print(json.dumps(prepared[name]()), flush=True)


if __name__ == "__main__":
    main()
