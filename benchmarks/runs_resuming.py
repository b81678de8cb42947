"""Going on with a large run: from `ramet run --resume` to its first claim and its first command, and what it takes to
show one, against a run of a hundred lines.
"""

import shutil
import statistics
import time
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from pathlib import Path

from benchmarks import runs_engine
from benchmarks.daemons import places_in, running
from benchmarks.harness import Row, scratch, timed
from benchmarks.runs_command import PROFILE, make_project, ramet
from benchmarks.runs_engine import Mode
from ramet.client.connection import Connection

_LEFT = 10
_ROUNDS = 3
_PROGRAM = ["/bin/sh", "-c", "cat >/dev/null; date +%s.%N"]
"""Says when it began, whatever it is given."""


def measure(thorough: bool) -> Iterator[Row]:
    """Ten lines left of many, and of a hundred."""
    count = 10_000 if thorough else 1000
    for mode in ("parallel", "sequential"):
        few, many = _resume(mode, 100), _resume(mode, count)
        for name, what in (
            ("claim", "`ramet run --resume` to its first claim"),
            ("command", "the same to its first command"),
            ("all", "the same to the end of ten lines"),
            ("get", "run.get through the daemon"),
            ("show", "`ramet runs show`"),
        ):
            details = {"ms": round(many[name], 1), "ms_of_100": round(few[name], 1)}
            yield Row(f"{what}: {count:,} lines, {mode}", "100 lines", "", many[name] / few[name], True, details)


def _resume(mode: Mode, count: int) -> dict[str, float]:
    """The median milliseconds of each, on copies of one database."""
    with scratch() as folder:
        project = make_project(folder, _PROGRAM)
        with runs_engine.opened(folder) as local:
            runs_engine.start(local, mode, count, str(project))
            runs_engine.work_off(local, count - _LEFT)
            runs_engine.leave(local)
        rounds = [_resume_copy(folder / "ramet.db", project, count) for _ in range(_ROUNDS)]
    return {name: statistics.median(taken[name] for taken in rounds) * 1000 for name in rounds[0]}


def _resume_copy(database: Path, project: Path, count: int) -> dict[str, float]:
    """Seconds, with a daemon that is already there."""
    with scratch() as home:
        shutil.copy(database, home)
        places = places_in(home)
        with running(places), Connection(str(places.socket), 60) as connection:
            get = timed(partial(connection.call, "run.get", {"run_id": 1}))
            show = timed(partial(ramet, home, project, "runs", "show", "r1"))
            last = connection.call("events.list", {"newest": True, "limit": 1})["items"][0]["id"]
            began = time.time()
            resume = timed(partial(ramet, home, project, "run", "--resume", "r1", "--driver", PROFILE))
            claim = {"after": last, "kind": "effort.claimed", "limit": 1}
            claimed = datetime.fromisoformat(connection.call("events.list", claim)["items"][0]["at"]).timestamp()
            run = connection.call("run.get", {"run_id": 1})
    assert run["counts"]["completed"] == count, run["counts"]
    command = min(float(line["output"]) for line in run["lines"][-_LEFT:])
    return {"claim": claimed - began, "command": command - began, "all": resume, "get": get, "show": show}
