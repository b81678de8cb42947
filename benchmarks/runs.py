"""What a run costs beyond its commands: `ramet run --parallel` against `xargs -P`, what becomes of that where there are
more lines, and how long it takes to go on with a large run.

Both run the same commands with the same shell.
"""

import resource
import statistics
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil

from benchmarks import runs_engine, runs_resuming
from benchmarks.daemons import places_in, running
from benchmarks.harness import Row, scratch, timed
from benchmarks.runs_command import PROFILE, make_project, ramet
from benchmarks.starting import make_repository

_SHELL = "/bin/sh"
_WORKERS = 4


@dataclass(frozen=True)
class _Taken:
    """What a run took, in seconds; of processor time all but the first."""

    seconds: float
    daemon: float
    keepers: float
    """With their agents, and with git."""
    command: float
    """`ramet run` itself."""


def measure(thorough: bool) -> Iterator[Row]:
    """The overhead, its growth, the engine's part of that, and resuming."""
    yield from _overhead(500 if thorough else 50)
    yield from _growth([50, 200, 500] if thorough else [20, 80])
    yield from runs_engine.measure(thorough)
    yield from runs_resuming.measure(thorough)


def _overhead(count: int) -> Iterator[Row]:
    """Commands that do nothing, that take a moment, and that take as long as a short answer of an agent."""
    for command, number in (("true", count), ("sleep 0.2", count), ("sleep 2", count // 5)):
        with scratch() as folder:
            before = _xargs(folder, command, number)
            taken = _run(folder, command, number)
            # before and after, so that both meet the same machine
            bare = statistics.mean([before, _xargs(folder, command, number)])
        details = {
            "ms_each": taken.seconds,
            "xargs_ms_each": bare,
            "more_ms_each": taken.seconds - bare,
            "cpu_ms_daemon": taken.daemon,
            "cpu_ms_keeper": taken.keepers,
            "cpu_ms_command": taken.command,
        }
        each = {name: seconds / number * 1000 for name, seconds in details.items()}
        what = f"{number} lines of `{command}`, {_WORKERS} at a time"
        yield _row(what, f"xargs -P {_WORKERS}", taken.seconds / bare, each)


def _growth(counts: list[int]) -> Iterator[Row]:
    """The same commands in a plain folder, and in a git project where each line has a worktree."""
    for is_git in (False, True):
        each: dict[int, float] = {}
        for count in counts:
            with scratch() as folder:
                each[count] = _run(folder, "true", count, is_git=is_git).seconds / count * 1000
        what = f"a line of {counts[-1]} in a {'git project' if is_git else 'plain folder'}, {_WORKERS} at a time"
        details = {f"ms_each_of_{count}": milliseconds for count, milliseconds in each.items()}
        yield _row(what, f"a line of {counts[0]}", each[counts[-1]] / each[counts[0]], details)


def _row(what: str, against: str, ratio: float, details: dict[str, float]) -> Row:
    return Row(what, against, "", ratio, True, {name: round(value, 1) for name, value in details.items()})


def _xargs(folder: Path, command: str, count: int) -> float:
    program = ["xargs", "-P", str(_WORKERS), "-I{}", _SHELL, "-c", "{}"]
    return timed(partial(subprocess.run, program, input=f"{command}\n" * count, text=True, cwd=folder, check=True))


def _run(folder: Path, command: str, count: int, *, is_git: bool = False) -> _Taken:
    """From the start of `ramet run` to its end, with a daemon that is already there."""
    project = make_project(folder, [_SHELL])
    (project / "tasks.md").write_text("".join(f"- [ ] {number}. {command}\n" for number in range(1, count + 1)))
    if is_git:
        make_repository(project)
    with running(places_in(folder)) as process:
        ramet(folder, project, "project", "add", ".")
        daemon = psutil.Process(process.pid)
        before, waited = daemon.cpu_times(), _waited_for()
        arguments = ["run", "tasks.md", "--parallel", str(_WORKERS), "--driver", PROFILE]
        seconds = timed(partial(ramet, folder, project, *arguments))
        own = _waited_for() - waited
        spent = [late - early for late, early in zip(daemon.cpu_times(), before, strict=True)]
    user, system, children_user, children_system = spent[:4]
    return _Taken(seconds, user + system, children_user + children_system, own)


def _waited_for() -> float:
    """Processor time of the processes that we have waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
