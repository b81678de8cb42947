"""Claiming and completing: our queue against raw SQL and two peers on the same database, and whether it stays so fast
when the queue grows.

The peers come with the extra `bench`. Without one, its rows say loudly that they were not measured.
"""

import importlib
import shutil
import statistics
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import apsw

from benchmarks.daemons import places_in
from benchmarks.harness import Row, scratch, timed
from benchmarks.jobs import Contender, Site, Worked
from benchmarks.jobs_floor import floor
from benchmarks.jobs_ramet import TASK, in_process, opened, through_daemon, work_off
from benchmarks.postgres import schema, server
from ramet.clock import SystemClock
from ramet.config.settings import DatabaseSettings
from ramet.faults import Faults
from ramet.store import open_store

_PEERS = {
    "DBOS": ("peers_dbos", "on_{database}"),
    "DBOS, tuned": ("peers_dbos", "tuned_on_{database}"),
    "procrastinate": ("peers_procrastinate", "on_{database}"),
}
_OURS: dict[str, Contender] = {
    "in process": in_process,
    "through the daemon, 10 connections": partial(through_daemon, connections=10),
    "through the daemon, 50 connections": partial(through_daemon, connections=50),
}


def measure(thorough: bool) -> Iterator[Row]:
    """SQLite, PostgreSQL, then a queue that grows."""
    count, rounds = (1000, 3) if thorough else (500, 2)
    yield from _compare("SQLite", None, ["DBOS", "DBOS, tuned"], 10, count, rounds)
    with scratch() as folder, server(folder) as url:
        yield from _compare("PostgreSQL", url, list(_PEERS), 4, count, rounds)
    yield from _growth([100, 10_000, 100_000] if thorough else [100, 10_000], blocked=10_000)


def _compare(
    database: str, url: str | None, peers: Sequence[str], reach: float, count: int, rounds: int
) -> Iterator[Row]:
    """Everybody takes turns, each time on an empty database."""
    yield from _floor(database, url, rounds=count // 5)
    found = _find_peers("sqlite" if url is None else "postgres", peers)
    contenders = _OURS | found
    runs = [{name: _run(contender, url, count) for name, contender in contenders.items()} for _ in range(rounds)]
    for ours in _OURS:
        for peer in found:
            yield _row(f"{database}: claim + complete, {ours}", ours, peer, runs, reach=reach)
    for peer in found:
        yield _row(f"{database}: add, in process", "in process", peer, runs, adding=True)


def _floor(database: str, url: str | None, rounds: int, each: int = 5) -> Iterator[Row]:
    """Ours and the floor, a few at a time in turn: most of either is a flush, so they must meet the same disk."""
    with _site(url) as one, _site(url) as other, opened(one) as ours, floor(other) as bare:
        ours.db.project.upsert("/bench")
        add, bare_add = partial(ours.work.add, "nothing", task=TASK), bare.add
        adding = [(timed(add), timed(bare_add)) for _ in range(rounds * each)]
        working = [(timed(partial(work_off, ours, each)), timed(partial(bare.work_off, each))) for _ in range(rounds)]
    for what, pairs, number in (("claim + complete", working, each), ("add", adding, 1)):
        ratio = statistics.median(raw / mine for mine, raw in pairs)
        us = [round(statistics.median(taken) / number * 1e6) for taken in zip(*pairs, strict=True)]
        is_promised = url is None and what != "add"
        reach, is_reached = (">= 0.5", ratio >= 0.5) if is_promised else ("", True)
        yield Row(f"{database}: {what}, in process", "raw", reach, ratio, is_reached, {"us": us[0], "raw_us": us[1]})


def _run(contender: Contender, url: str | None, count: int) -> Worked:
    with _site(url) as site:
        return contender(site, count)


@contextmanager
def _site(url: str | None) -> Iterator[Site]:
    with ExitStack() as stack:
        folder = stack.enter_context(scratch())
        yield Site(folder, None if url is None else stack.enter_context(schema(url)))


def _row(
    what: str,
    ours: str,
    other: str,
    runs: list[dict[str, Worked]],
    *,
    reach: float | None = None,
    adding: bool = False,
) -> Row:
    """How many times as fast ours is, at the median of the rounds."""
    rates = [
        {name: run[name].added_per_second if adding else run[name].worked_per_second for name in (ours, other)}
        for run in runs
    ]
    ratios = [rate[ours] / rate[other] for rate in rates]
    ratio = statistics.median(ratios)
    details: dict[str, float] = {
        "per_second": round(statistics.median(rate[ours] for rate in rates)),
        "other_per_second": round(statistics.median(rate[other] for rate in rates)),
        "lowest": round(min(ratios), 2),
        "highest": round(max(ratios), 2),
    }
    if not adding:
        details |= {f"cpu_us_{name}": cpu for name in (ours, other) if (cpu := _cpu_us(runs, name)) is not None}
    return Row(what, other, "" if reach is None else f">= {reach:g}", ratio, reach is None or ratio >= reach, details)


def _cpu_us(runs: list[dict[str, Worked]], name: str) -> float | None:
    """Processor time of this process for each job: however busy the disk is."""
    spent = [run[name].cpu_seconds for run in runs]
    known = [seconds for seconds in spent if seconds is not None]
    return round(statistics.median(known) / runs[0][name].count * 1e6) if known else None


def _find_peers(database: str, names: Sequence[str]) -> dict[str, Contender]:
    found: dict[str, Contender] = {}
    for name in names:
        module, function = _PEERS[name]
        try:
            found[name] = getattr(importlib.import_module(f"benchmarks.{module}"), function.format(database=database))
        except ImportError as error:
            print(f"\nwarning: {name} is not measured: {error}\n  fix: pip install -e '.[bench]'\n", flush=True)
    return found


def _growth(finished: Sequence[int], blocked: int) -> Iterator[Row]:
    """The same work among more and more that is finished, and behind many that have to wait; a few of each in turn."""
    with ExitStack() as stack:
        folders = {number: stack.enter_context(scratch()) for number in finished}
        for number, folder in folders.items():
            _fill(folder, finished=number)
        behind = stack.enter_context(scratch())
        shutil.copy(folders[finished[0]] / "ramet.db", behind)
        _fill(behind, blocked=blocked)
        samples = _sample([*folders.values(), behind])
    first, medians = samples[0], [statistics.median(values) * 1e6 for values in samples]
    for number, taken, median in zip([*finished, 0][1:], samples[1:], medians[1:], strict=True):
        what = f"claim + complete among {number:,} finished" if number else f"the same behind {blocked:,} blocked"
        ratio = statistics.median(late / early for late, early in zip(taken, first, strict=True))
        details: dict[str, float] = {"us": round(median), "first_us": round(medians[0])}
        yield Row(what, f"among {finished[0]}", "<= 1.2", ratio, ratio <= 1.2, details)


def _sample(folders: Sequence[Path], rounds: int = 40, each: int = 5) -> list[list[float]]:
    """Seconds for one claim and completion in each database, all of them taking turns."""
    samples: list[list[float]] = [[] for _ in folders]
    with ExitStack() as stack:
        queues = [stack.enter_context(opened(Site(folder))) for folder in folders]
        for local in queues:
            for _ in range(rounds * each):
                local.work.add("nothing", task=TASK)
        for _ in range(rounds):
            for local, taken in zip(queues, samples, strict=True):
                taken.append(timed(partial(work_off, local, each)) / each)
    return samples


def _fill(folder: Path, *, finished: int = 0, blocked: int = 0) -> None:
    """Efforts by the thousand: finished ones, and queued ones that wait for one that nobody works on."""
    settings = DatabaseSettings(durability="process")
    store = open_store(settings, places_in(folder), clock=SystemClock(), faults=Faults())
    database: apsw.Connection = store.connect().database  # type: ignore[attr-defined]
    with database:
        database.execute("INSERT OR IGNORE INTO projects (path) VALUES ('/bench')")
        for task in {number // 100 for number in range(finished)}:
            _insert(database, f"/bench/finished/{task}", "finished", min(100, finished - task * 100))
        for task in {number // 100 for number in range(blocked)}:
            _insert(database, f"/bench/blocked/{task}", "queued", min(100, blocked - task * 100))
        if blocked:
            database.execute("INSERT INTO tasks (dir_path, project_id) VALUES ('/bench/held', 1)")
            database.execute(
                "INSERT INTO efforts (task_id, skill, ordinal, lifecycle, prompt)"
                " VALUES ('/bench/held', 'implement', 1, 'active', 'nothing')"
            )
            database.execute(
                "INSERT INTO dependencies (effort_id, needs_id) SELECT id, ? FROM efforts WHERE lifecycle = 'queued'",
                (database.last_insert_rowid(),),
            )
    store.close()


def _insert(database: apsw.Connection, task: str, lifecycle: str, count: int) -> None:
    database.execute("INSERT INTO tasks (dir_path, project_id) VALUES (?, 1)", (task,))
    at, outcome = ("2026-01-05T08:00:00.000Z", "success") if lifecycle == "finished" else (None, None)
    database.executemany(
        "INSERT INTO efforts (task_id, skill, ordinal, lifecycle, finished_at, outcome, prompt, output_content)"
        " VALUES (?, 'implement', ?, ?, ?, ?, 'nothing', ?)",
        ((task, ordinal, lifecycle, at, outcome, outcome and "x" * 500) for ordinal in range(1, count + 1)),
    )
