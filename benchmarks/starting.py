"""What an effort costs beyond the process that it runs: fifty times `true`, from `work.run` to the last outcome.

The floors are the same process started bare and, where each effort gets a worktree, `git worktree add` alone.
"""

import os
import statistics
import subprocess
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from pathlib import Path

from benchmarks.daemons import places_in, running
from benchmarks.harness import Row, scratch, timed
from ramet.client.connection import Connection

_COMMAND = "true"
_FILES = 200
_STEPS = (
    ("prepare_ms", "effort.claimed", "session.started"),
    ("keeper_and_agent_ms", "session.started", "session.ended"),
    ("settle_ms", "session.ended", "effort.finished"),
)
"""What is written down of each effort, and what happens between."""


def measure(thorough: bool) -> Iterator[Row]:
    """A plain directory and a git project, with one worker and with four."""
    count = 50 if thorough else 20
    for is_git in (False, True):
        for workers in (1, 4):
            with scratch() as folder:
                yield _compare(folder, is_git, workers, count)


def _compare(folder: Path, is_git: bool, workers: int, count: int) -> Row:
    project, bare = folder / "project", folder / "bare"
    project.mkdir()
    commands = [["/bin/sh", "-c", _COMMAND]] * count
    floors = {"bare_process_ms": _bare(project, commands)}
    if is_git:
        make_repository(project)
        commands = [["git", "worktree", "add", "-b", f"bare/{each}", str(bare / str(each))] for each in range(count)]
        floors["bare_worktree_ms"] = _bare(project, commands)
    each, steps = _efforts(folder, project, workers, count)
    what = f"an effort in a {'git project' if is_git else 'plain directory'}, {workers} at once"
    against = "its process and its worktree alone" if is_git else "its process alone"
    details = {name: round(value, 1) for name, value in ({"ms_each": each} | floors | steps).items()}
    return Row(what, against, "", each / sum(floors.values()), True, details)


def _bare(folder: Path, commands: list[list[str]]) -> float:
    """The median milliseconds of some commands, run one after the other."""
    run = partial(subprocess.run, cwd=folder, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    return statistics.median(timed(partial(run, command)) for command in commands) * 1000


def _efforts(folder: Path, project: Path, workers: int, count: int) -> tuple[float, dict[str, float]]:
    """Milliseconds for each, and where they go."""
    places = places_in(folder)
    with running(places), Connection(str(places.socket), 300) as connection:
        connection.call("db.project.upsert", {"path": str(project)})
        for _ in range(count):
            connection.call("work.add", {"prompt": _COMMAND, "task": str(project / "task"), "driver": "shell"})
        run = {"workers": workers, "once": True, "environment": {"PATH": os.environ["PATH"]}}
        answers: list[dict[str, dict[str, int]]] = []
        seconds = timed(lambda: answers.append(connection.call("work.run", run)))
        assert answers[0]["finished"] == {"success": count}, answers
        return seconds / count * 1000, _steps(connection)


def _steps(connection: Connection) -> dict[str, float]:
    """The median milliseconds between what was written down of each effort."""
    seen: dict[int, dict[str, float]] = {}
    for event in connection.call("events.list", {"limit": 1000})["items"]:
        if event["effort_id"] is not None:
            at = datetime.fromisoformat(event["at"]).timestamp() * 1000
            seen.setdefault(event["effort_id"], {})[event["kind"]] = at
    return {
        name: statistics.median(times[after] - times[before] for times in seen.values())
        for name, before, after in _STEPS
    }


def make_repository(project: Path) -> None:
    """Two hundred files of a few kilobytes, in one commit."""
    for number in range(_FILES):
        (project / f"file_{number}.txt").write_text(f"line {number}\n" * 200)
    _git(project, "init", "--initial-branch", "main")
    _git(project, "add", ".")
    _git(project, "-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-m", "all")


def _git(project: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(project), *arguments], check=True, capture_output=True)
