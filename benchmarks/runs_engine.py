"""The engine's part of a run, in this process: recording many lines, working off one among them, and showing
them.

The databases take turns, so that a busy moment hits them alike; flushes are spared, which are the same for all of them.
"""

import os
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from benchmarks.daemons import places_in
from benchmarks.harness import Row, scratch, timed
from ramet.clock import SystemClock
from ramet.config.environment import read_environment
from ramet.config.settings import DatabaseSettings, Settings
from ramet.faults import Faults
from ramet.library import Ramet
from ramet.library.local import LocalTransport
from ramet.protocol.operation import R, Request
from ramet.protocol.runs.runs import AttendRun, LeaveRun, NewLine
from ramet.protocol.work.attempts import BeginAttempt
from ramet.protocol.work.leases import Claimed
from ramet.store import open_store

Mode = Literal["sequential", "parallel"]
_WORKER = "bench/1"
_ATTENDER = "bench"
_SAMPLES = 50
_OUTPUT = "What was done, in a few words, and what is to be known about it. " * 8


def measure(thorough: bool) -> Iterator[Row]:
    """A run of few lines, and of more and more."""
    counts = [100, 1000, 10_000] if thorough else [100, 1000]
    for mode in ("parallel", "sequential"):
        yield from _grow(mode, counts)


def _grow(mode: Mode, counts: list[int]) -> Iterator[Row]:
    with ExitStack() as stack:
        sites = [stack.enter_context(opened(stack.enter_context(scratch()))) for _ in counts]
        starting = [timed(partial(start, local, mode, count)) for local, count in zip(sites, counts, strict=True)]
        early = _sample(sites)
        for local, count in zip(sites, counts, strict=True):
            work_off(local, count - 2 * _SAMPLES)
        late = _sample(sites)
        getting = _medians([[timed(partial(local.run.get, 1)) for local in sites] for _ in range(5)])
        listing = _medians([[timed(local.run.list) for local in sites] for _ in range(5)])
    each = [seconds / count for seconds, count in zip(starting, counts, strict=True)]
    shown = [seconds / count for seconds, count in zip(getting, counts, strict=True)]
    lines = f"of {counts[-1]:,}, {mode}"
    yield _row(f"run.start, a line {lines}", counts, each)
    yield _row(f"claim, start and complete, the first {lines}", counts, early)
    yield _row(f"claim, start and complete, the last {lines}", counts, late)
    yield _row(f"run.get, a line {lines}", counts, shown)
    yield _row(f"run.list with one run {lines}", counts, listing)


def _row(what: str, counts: list[int], seconds: list[float]) -> Row:
    details = {f"us_{count}": round(each * 1e6, 1) for count, each in zip(counts, seconds, strict=True)}
    return Row(what, f"of {counts[0]}", "", seconds[-1] / seconds[0], True, details)


def _sample(sites: list[Ramet]) -> list[float]:
    """The median seconds of a line in each database, all of them taking turns."""
    return _medians([[timed(partial(work_off, local, 1)) for local in sites] for _ in range(_SAMPLES)])


def _medians(rounds: list[list[float]]) -> list[float]:
    return [statistics.median(taken) for taken in zip(*rounds, strict=True)]


@contextmanager
def opened(folder: Path) -> Iterator[Ramet]:
    """What `ramet.open` gives, on a database that is not flushed."""
    clock, settings, places = (
        SystemClock(),
        Settings(database=DatabaseSettings(durability="process")),
        places_in(folder),
    )
    store = open_store(settings.database, places, clock=clock, faults=Faults())
    environment = read_environment(os.environ, settings)
    with Ramet(LocalTransport(store, settings, environment, clock, places, os.environ)) as local:
        yield local


def _ask(r: Ramet, request: Request[R]) -> R:
    """An operation that only Ramet's own processes call, and the library therefore does not offer."""
    reply: R = r._transport.call(request.op, msgspec.to_builtins(request))
    return reply


def start(local: Ramet, mode: Mode, count: int, project: str = "/bench") -> None:
    """A run of so many lines, attended, in an empty database."""
    local.db.project.upsert(project)
    lines = [NewLine(key=str(number), text=f"do what number {number} says") for number in range(1, count + 1)]
    run = local.run.start(f"{project}/tasks.md", lines=lines, mode=mode)
    _ask(local, AttendRun(run_id=run.id, attender=_ATTENDER, begins=True, lease_seconds=86_400))


def work_off(local: Ramet, count: int) -> None:
    """Claim so many lines, begin them and give them their outcome, one by one."""
    for _ in range(count):
        claimed = local.work.claim(_WORKER, run=1)
        assert isinstance(claimed, Claimed), claimed
        attempt = BeginAttempt(
            effort_id=claimed.id,
            generation=claimed.generation,
            driver="command",
            agent_id=_WORKER,
            instance=f"{time.monotonic_ns():x}",
            prompt=claimed.prompt or "",
        )
        _ask(local, attempt)
        local.work.complete(claimed.id, claimed.generation, "success", output_content=_OUTPUT)


def leave(local: Ramet) -> None:
    """Attend the run no longer: it is interrupted."""
    _ask(local, LeaveRun(run_id=1, attender=_ATTENDER))
