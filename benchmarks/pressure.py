"""Whether anything delays a hook, or fills the memory: a daemon on a large database, a steady load, and something else.

    python -m benchmarks.pressure --database /path/to/folder --only diff,tree --json results.json

Each trial has a daemon of its own. Hooks and durable appends (`pressure_load`) run for a few seconds alone and then
beside one attack (`pressure_attacks`) or command, so that each ratio compares two moments of one daemon. Memory is what
the daemon and the processes that it started take together (PSS), and the largest resident size of the daemon alone.
Afterwards the daemon has a minute to return below its limit.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from benchmarks import process_figures
from benchmarks.daemons import make_sessions, places_in, running
from benchmarks.harness import Row, percentile, report, save, scratch
from benchmarks.imports import environ_in, make_home
from benchmarks.large_database import Sizes, fill, fill_tree
from benchmarks.starting import make_repository
from ramet.config.settings import DaemonSettings, Places, Settings
from ramet.hooks.program import write_program

_WARM_SECONDS = 1.5
_LIMIT_MS = 50.0
_LIMIT_RATIO = 5.0
_PEAK_MB = 300.0
_AFTER_MB = 120.0
_AFTER_SECONDS = 60.0
_IMPORT_MB = 60
_TREE = 100_000
_STREAMS = ("hook", "append", "process")


@dataclass(frozen=True)
class Trial:
    """What happens beside the hooks: an attack by its name, or a command of `ramet`."""

    name: str
    title: str
    command: tuple[str, ...] = ()
    database: str = "large"
    once: bool = False
    """Whether the command runs once instead of again and again."""


TRIALS = (
    Trial("quiet", "nothing"),
    Trial("diff", "history.diff of 1,000 against 10,000 commits"),
    Trial("diff of a fork", "history.diff of two branches that share 9,000 commits"),
    Trial("compile, whole", "history.compile of 160,000 commits, without pages"),
    Trial("compile, pages", "history.compile of 160,000 commits, page by page"),
    Trial("compile, 10,000 tokens", "history.compile of 160,000 commits, max_tokens 10,000"),
    Trial("log", "history.log of 160,000 commits, page by page"),
    Trial("branches", "history.branches, 10,000 branches"),
    Trial("messages", "db.messages.list, 1,000 at offset 100,000"),
    Trial("events", "events.list of a kind that does not occur, 1,100,000 events"),
    Trial("tree", "spawn.tree of 100,000 sessions", database="tree"),
    Trial("usage", "usage.show of 100,000 sessions", database="tree"),
    Trial("zeroblob", "db.query: select zeroblob(900000000)"),
    Trial("wide rows", "db.query: 10,000 rows of 200 KB"),
    Trial("long queries", "8 queries that never end"),
    Trial("unfinished lines", "60 unfinished lines of 7.9 MB"),
    Trial("unread", "8 clients that ask for much and read nothing"),
    Trial("500 idle", "500 idle connections"),
    Trial("500 asking", "500 connections, each asks twice a second"),
    Trial("500 hurrying", "500 connections, each asks as fast as it can"),
    Trial("burst", "bursts of 1,000 connects"),
    Trial("large appends", "appends of nearly 8 MiB"),
    Trial("import", f"ramet import, {_IMPORT_MB} MB", ("import", "--yes", "--json"), once=True),
    Trial("gc", "ramet history gc", ("history", "gc", "--yes")),
    Trial("check", "ramet db check", ("db", "check"), once=True),
    Trial("backup", "ramet db backup", ("db", "backup", "{fresh}")),
    Trial("export", "ramet export of everything", ("export", "--all", "--output", "{fresh}"), once=True),
    Trial("doctor", "ramet doctor", ("doctor",)),
)


@dataclass
class Result:
    """What a trial gave: durations in ms by stream and phase, memory, and what the attack said."""

    trial: Trial
    quiet: dict[str, list[float]] = field(default_factory=dict)
    beside: dict[str, list[float]] = field(default_factory=dict)
    details: dict[str, float] = field(default_factory=dict)
    refused: int = 0
    """How many hooks and appends were answered with an error."""

    @property
    def is_kept(self) -> bool:
        """Whether hooks stayed within their limits, and all of them were answered before their deadline."""
        hooks, processes = (
            (percentile(self.beside[name], 0.95), percentile(self.quiet[name], 0.95)) for name in ("hook", "process")
        )
        is_in_time = hooks[0] <= _LIMIT_MS and hooks[0] <= _LIMIT_RATIO * hooks[1]
        return is_in_time and processes[0] <= _LIMIT_RATIO * processes[1] and not self.details["failed_hooks"]


@dataclass(frozen=True)
class Pace:
    """How long things take."""

    quiet_seconds: float
    beside_seconds: float
    longest_seconds: float
    """After this time an attack that is still waiting is ended."""


def measure(thorough: bool) -> Iterator[Row]:
    """Every trial, on databases that are made for it."""
    pace = Pace(10.0, 20.0, 120.0) if thorough else Pace(3.0, 6.0, 20.0)
    with scratch() as folder:
        yield from _rows(Ground(folder), TRIALS, pace)


class Ground:
    """The folder in which the daemons run, with a copy of each database, or with new ones."""

    def __init__(self, folder: Path, databases: Path | None = None, scale: float = 1.0) -> None:
        self.folder = folder
        self._databases = databases
        self._scale = scale
        self.project = folder / "project"
        self.project.mkdir()
        make_repository(self.project)

    def home(self, database: str) -> Path:
        """The home of a daemon on this database."""
        home = self.folder / database / "r"
        if home.exists():
            return home
        home.mkdir(parents=True)
        if self._databases is None and database == "large":
            fill(home, Sizes().scaled(self._scale))
        elif self._databases is None:
            fill_tree(home, int(_TREE * self._scale))
        else:
            shutil.copy(self._databases / f"{database}.db", home / "ramet.db")
            with suppress(FileNotFoundError):
                shutil.copy(self._databases / f"{database}-search.db", home / "search.db")
        return home


def _rows(ground: Ground, trials: Sequence[Trial], pace: Pace) -> Iterator[Row]:
    for trial in trials:
        print(f"  {trial.title}…", flush=True)
        try:
            yield from _summary(run_trial(ground, trial, pace))
        except Failed as error:
            print(f"    not measured: {error}", flush=True)
    try:
        yield from _stop_during_check(ground)
    except Failed as error:
        print(f"    not measured: {error}", flush=True)


def run_trial(ground: Ground, trial: Trial, pace: Pace) -> Result:
    """One daemon, first quiet, then beside something."""
    home = ground.home(trial.database)
    if trial.name == "import":
        make_home(home.parent, _IMPORT_MB)
    places, result = places_in(home), Result(trial)
    with running(places) as daemon, _load(ground, places) as samples:
        time.sleep(_WARM_SECONDS)
        quiet = _during(samples, pace.quiet_seconds)
        process_figures.forget_peak(daemon.pid)
        watch = process_figures.MemoryWatch(daemon.pid)
        begun = time.monotonic()
        told = _press(ground, trial, places, pace)
        ended = time.monotonic()
        time.sleep(0.5)
        # A read whose client is gone may grow for a while: what it takes then counts too.
        after_mb, after_seconds = process_figures.wait_below(daemon.pid, _AFTER_MB, _AFTER_SECONDS)
        watch.end()
        peak = process_figures.peak_mb(daemon.pid)
    result.details = told | {
        "peak_mb": round(watch.most_mb),
        "daemon_peak_mb": round(peak),
        "processes": watch.most_processes,
        "after_mb": round(after_mb),
        "after_seconds": round(after_seconds, 1),
    }
    result.quiet = _chosen(samples, *quiet)
    result.beside = _chosen(samples, begun, ended)
    result.details["failed_hooks"] = _failures(samples, begun, ended)
    result.refused = sum(not each[3] and each[1] + each[2] <= ended for each in samples)
    return result


Sample = tuple[str, float, float, bool]


@contextmanager
def _load(ground: Ground, places: Places) -> Iterator[list[Sample]]:
    """The steady load; what it has measured so far."""
    session = make_sessions(places.socket, 1)[0]
    program = write_program(Settings(daemon=DaemonSettings(autostart=False)), places)
    command = [sys.executable, "-m", "benchmarks.pressure_load", str(places.socket), str(ground.project), str(program)]
    samples: list[Sample] = []
    process = subprocess.Popen([*command, str(session)], stdout=subprocess.PIPE)
    thread = threading.Thread(target=partial(_collect, process, samples))
    thread.start()
    try:
        yield samples
    finally:
        process.terminate()
        thread.join()
        process.wait()


def _collect(process: "subprocess.Popen[bytes]", samples: list[Sample]) -> None:
    assert process.stdout is not None
    with process.stdout:
        for line in process.stdout:
            stream, due, seconds, is_answered = json.loads(line)
            samples.append((stream, due, seconds, is_answered))


def _during(samples: list[Sample], seconds: float) -> tuple[float, float]:
    """Let the load run for so long, and until every stream has something to show."""
    begun = time.monotonic()
    deadline = begun + seconds + 30
    while time.monotonic() < begun + seconds or {each[0] for each in samples if each[1] > begun} != set(_STREAMS):
        if time.monotonic() > deadline:
            raise RuntimeError("the load is not answered")
        time.sleep(0.05)
    return begun, time.monotonic()


def _chosen(samples: list[Sample], begun: float, ended: float) -> dict[str, list[float]]:
    """The durations in ms of what was under way at some time between two moments."""
    return {
        stream: [
            seconds * 1000
            for name, due, seconds, _ in samples
            if name == stream and due <= ended and due + seconds >= begun
        ]
        for stream in _STREAMS
    }


def _failures(samples: list[Sample], begun: float, ended: float) -> int:
    """How many hooks were refused, or took so long that their agent did not wait for them."""
    longest = Settings().hooks.deadline_ms / 1000
    return sum(
        seconds >= longest or (not is_answered and due + seconds <= ended)
        for name, due, seconds, is_answered in samples
        if name != "append" and due <= ended and due + seconds >= begun
    )


def _press(ground: Ground, trial: Trial, places: Places, pace: Pace) -> dict[str, float]:
    if trial.name == "quiet":
        time.sleep(pace.beside_seconds)
        return {}
    if trial.command:
        return _repeat_command(ground, trial, places, pace)
    arguments = [trial.name, str(places.socket), str(pace.beside_seconds)]
    command = [sys.executable, "-m", "benchmarks.pressure_attacks", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        said, _ = process.communicate(timeout=pace.longest_seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return {"unfinished": 1}
    return dict(json.loads(said))


class Failed(Exception):
    """The command of a trial has failed, so that the trial shows nothing."""


def _repeat_command(ground: Ground, trial: Trial, places: Places, pace: Pace) -> dict[str, float]:
    """A command of `ramet`, whose home is the daemon's. One that takes too long is ended and counts."""
    folder, ramet = places.home.parent, str(Path(sys.executable).parent / "ramet")
    begun, runs, fresh = time.monotonic(), 0, ground.folder / "fresh"
    while runs == 0 or (not trial.once and time.monotonic() - begun < pace.beside_seconds):
        fresh.unlink(missing_ok=True)
        command = [ramet, *(part.format(fresh=fresh) for part in trial.command)]
        runs += 1
        try:
            done = subprocess.run(
                command,
                env=environ_in(folder),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=pace.longest_seconds,
            )
        except subprocess.TimeoutExpired:
            return {"unfinished": 1, "runs": runs}
        if done.returncode:
            raise Failed(f"{' '.join(trial.command)} ended with {done.returncode}: {done.stderr[-500:]}")
    return {"runs": runs, "ms_each": round((time.monotonic() - begun) / runs * 1000)}


def _summary(result: Result) -> Iterator[Row]:
    """The row of the hooks, and the row of the memory."""
    details: dict[str, float] = {}
    for stream in _STREAMS:
        for phase, values in (("quiet", result.quiet[stream]), ("", result.beside[stream])):
            name = f"{stream}_{phase}" if phase else stream
            for what, share in (("p50", 0.5), ("p95", 0.95), ("longest", 1.0)):
                details[f"{name}_{what}_ms"] = round(percentile(values, share), 1)
        details[f"{stream}_count"] = len(result.beside[stream])
    ratio = details["hook_p95_ms"] / details["hook_quiet_p95_ms"]
    title, memory = result.trial.title, result.details
    print(f"    hooks p95 {details['hook_p95_ms']} ms, quiet {details['hook_quiet_p95_ms']} ms; {memory}", flush=True)
    details |= {"failed_hooks": memory["failed_hooks"], "load": round(os.getloadavg()[0], 1)}
    yield Row(f"p95 of a hook beside: {title}", "quiet", "<= 5", ratio, result.is_kept, details)
    is_bounded = max(memory["peak_mb"], memory["daemon_peak_mb"]) <= _PEAK_MB and memory["after_mb"] <= _AFTER_MB
    yield Row(
        f"memory beside: {title}", "MB, daemon and its processes", "<= 300", memory["peak_mb"], is_bounded, memory
    )


def _stop_during_check(ground: Ground) -> Iterator[Row]:
    """A second `ramet daemon start`, and `ramet daemon stop`, while `ramet db check` runs."""
    places = places_in(ground.home("large"))
    folder, ramet = places.home.parent, str(Path(sys.executable).parent / "ramet")
    quiet = partial(subprocess.Popen, env=environ_in(folder), cwd=folder, stdout=-3, stderr=-3)
    details: dict[str, float] = {}
    with ExitStack() as stack:
        daemon = stack.enter_context(running(places))
        for is_checking in (False, True):
            check = quiet([ramet, "db", "check"]) if is_checking else None
            time.sleep(1.5)
            name = "during_check" if is_checking else "idle"
            begun = time.monotonic()
            quiet([ramet, "daemon", "start"]).wait()
            details[f"start_{name}_ms"] = round((time.monotonic() - begun) * 1000)
            if check is None:
                continue
            if check.poll() is not None:
                raise Failed(f"the check ended with {check.returncode} before the daemon was stopped")
            begun = time.monotonic()
            quiet([ramet, "daemon", "stop"]).wait()
            details["stop_during_check_ms"] = round((time.monotonic() - begun) * 1000)
            daemon.wait()
            details["check_status"] = float(check.wait(30))
        stack.enter_context(running(places))
        begun = time.monotonic()
        quiet([ramet, "daemon", "stop"]).wait()
        details["stop_idle_ms"] = round((time.monotonic() - begun) * 1000)
    ratio = details["stop_during_check_ms"] / details["stop_idle_ms"]
    yield Row("ramet daemon stop during a check", "with nothing to do", "<= 2", ratio, ratio <= 2, details)


def main() -> None:
    """Measure some trials, or all, on databases that are there already or on new ones."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pressure", description=__doc__)
    parser.add_argument("--database", type=Path, help="a folder with large.db, large-search.db and tree.db to copy")
    parser.add_argument("--only", default="", help="names of trials, separated by semicolons (default: all)")
    parser.add_argument("--seconds", type=float, default=6.0, help="how long each attack lasts (default: 6)")
    parser.add_argument("--json", type=Path, help="write the results to this file as JSON instead of printing them")
    arguments = parser.parse_args()
    names = [name.strip() for name in arguments.only.split(";") if name.strip()]
    trials = [trial for trial in TRIALS if not names or trial.name in names]
    pace = Pace(arguments.seconds / 2, arguments.seconds, max(20.0, 3 * arguments.seconds))
    rows = []
    with scratch() as folder:
        for row in _rows(Ground(folder, arguments.database), trials, pace):
            rows.append(row)
            if arguments.json is not None:  # a trial that fails does not cost those before it
                save(rows, arguments.json)
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
