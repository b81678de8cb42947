"""Keeping what an agent says and hears: how large, how fast, and whether it stays so when the history grows.

The peers come with the extra `bench`. Without one, its rows say loudly that they were not measured.
"""

import importlib
import shutil
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import apsw

import ramet
from benchmarks.contenders import Append, Contender, in_process, kept_bytes, through_daemon
from benchmarks.corpus import messages
from benchmarks.daemons import places_in
from benchmarks.harness import Row, flush_cost_ms, percentile, scratch, timed
from ramet.clock import SystemClock
from ramet.config.settings import DatabaseSettings
from ramet.engine import Engine
from ramet.engine.transaction import Rules
from ramet.faults import Faults
from ramet.model.redaction import Redactor
from ramet.protocol.history.commits import Commit
from ramet.protocol.operations import OPERATIONS
from ramet.store import open_store
from ramet.store.database.blobs import Codec

_PEERS = {
    "langgraph delta": ("peers_langgraph", "delta"),
    "langgraph default": ("peers_langgraph", "default"),
    "pygit2": ("peers_pygit2", "unflushed"),
    "pygit2 flushed": ("peers_pygit2", "flushed"),
}
_TURNS = 1000
_CHUNK = 100


@dataclass
class Measured:
    """What keeping some turns has cost."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    """Of this process alone, however busy the disk and the machine are; a daemon's is not in it."""
    size: int = 0


def measure(thorough: bool) -> Iterator[Row]:
    """Peers, then depth, compiling and forks."""
    rounds = 3 if thorough else 1
    yield from _turns(_TURNS, rounds)
    yield from _default_channel(_TURNS if thorough else 200)
    yield from _growth(10_000)
    yield from _depth(100_000 if thorough else 20_000)
    yield from _compile(10_000, rounds=15 if thorough else 7)
    yield from _forks(1000)


def _turns(count: int, rounds: int) -> Iterator[Row]:
    """The size and the time of a thousand turns, ours and the peers' taking turns a hundred at a time."""
    wanted = ["langgraph delta", "pygit2", "pygit2 flushed"]
    contenders: dict[str, Contender] = {"in process": in_process, "daemon": through_daemon} | _peers(wanted)
    flushes = [flush_cost_ms()]
    runs = []
    for number in range(rounds):
        runs.append(_keep(contenders, messages(count, seed=number + 1)))
        flushes.append(flush_cost_ms())
    raw = sum(len(text.encode()) for text in messages(count))
    sizes = {name: statistics.median(run[name].size for run in runs) for name in contenders}
    empty = _empty_bytes()
    yield _at_most(
        f"{count:,} turns: size",
        "the raw text",
        0.5,
        sizes["in process"] / raw,
        {
            "bytes": sizes["in process"],
            "raw": raw,
            "empty_database": empty,
            "without_empty": (sizes["in process"] - empty) / raw,
        },
    )
    if "langgraph delta" in sizes:
        theirs = sizes["langgraph delta"]
        details = {"peer_bytes": theirs, "without_empty": (sizes["in process"] - empty) / theirs}
        yield _at_most("the same: size", "LangGraph, DeltaChannel", 1 / 20, sizes["in process"] / theirs, details)
    for ours, peer, reach in (
        ("in process", "langgraph delta", 1 / 25),
        ("daemon", "langgraph delta", 1 / 18),
        ("in process", "pygit2", 1 / 3),
        ("in process", "pygit2 flushed", 1 / 3),
    ):
        if peer in contenders:
            yield _faster(ours, peer, reach, runs, {"turns": count, "flush_ms": statistics.median(flushes)})


def _faster(
    ours: str, peer: str, reach: float, runs: list[dict[str, Measured]], circumstances: dict[str, float]
) -> Row:
    ratios = [run[ours].seconds / run[peer].seconds for run in runs]
    micros = {name: statistics.median(run[name].seconds for run in runs) * 1e6 for name in (ours, peer)}
    count = circumstances["turns"]
    details = {"us_per_turn": micros[ours] / count, "peer_us_per_turn": micros[peer] / count, **circumstances}
    if ours == "in process":
        details["cpu_ratio"] = statistics.median(run[ours].cpu_seconds / run[peer].cpu_seconds for run in runs)
        details["cpu_us_per_turn"] = statistics.median(run[ours].cpu_seconds for run in runs) * 1e6 / count
    what = f"the same: time, {'through the daemon' if ours == 'daemon' else ours}"
    return _at_most(what, peer, reach, statistics.median(ratios), details)


def _default_channel(count: int) -> Iterator[Row]:
    contenders = {"in process": in_process} | _peers(["langgraph default"])
    if len(contenders) < 2:
        return
    run = _keep(contenders, messages(count))
    ours, peer = run["in process"], run["langgraph default"]
    what, against = f"{count:,} turns: size", "LangGraph, default settings"
    yield _at_most(what, against, 1 / 20, ours.size / peer.size, {"bytes": ours.size, "peer_bytes": peer.size})
    details = {"us_per_turn": ours.seconds / count * 1e6, "peer_us_per_turn": peer.seconds / count * 1e6}
    yield _at_most("the same: time, in process", against, 1 / 25, ours.seconds / peer.seconds, details)


def _growth(count: int) -> Iterator[Row]:
    """Ten times as many turns: what an empty database weighs does not count any more."""
    with scratch() as folder:
        fill_history(folder, "main", messages(count))
        ours = (folder / "ramet.db").stat().st_size
    raw = sum(len(text.encode()) for text in messages(count))
    yield _at_most(f"{count:,} turns: size", "the raw text", 0.5, ours / raw, {"bytes": ours, "raw": raw})


def _depth(depth: int) -> Iterator[Row]:
    """A commit far down a long history, against one near the beginning of a short one, one by one in turn."""
    texts = [text[:1500] for text in messages(2000)]
    with scratch() as deep, scratch() as shallow:
        fill_history(deep, "main", [f"{number} {texts[number % len(texts)]}" for number in range(depth)])
        fill_history(shallow, "main", [f"{number} {texts[number]}" for number in range(100)])
        with ramet.open(deep / "ramet.db") as far, ramet.open(shallow / "ramet.db") as near:
            samples: dict[str, list[float]] = {"far": [], "near": []}
            for number in range(400):
                text = f"more {number} {texts[number]}"
                samples["near"].append(timed(partial(near.history.commit, "main", text)))
                samples["far"].append(timed(partial(far.history.commit, "main", text)))
    medians = {name: statistics.median(values) * 1e6 for name, values in samples.items()}
    details = {"far_us": medians["far"], "near_us": medians["near"]}
    yield _at_most(f"commit at depth {depth:,}", "depth 100", 1.2, medians["far"] / medians["near"], details)


def _compile(count: int, rounds: int) -> Iterator[Row]:
    """The context of a long branch: the first time, and after one more commit; against reading the plain texts."""
    texts = messages(count)
    cold, warm, floor = [], [], []
    with scratch() as folder:
        fill_history(folder, "main", texts)
        _fill_plain(folder / "plain.db", texts)
        for number in range(rounds):
            floor.append(_read_plain(folder / "plain.db"))
            with ramet.open(folder / "ramet.db") as opened:
                cold.append(timed(partial(opened.history.compile, "main")))
                opened.history.commit("main", f"one more, number {number}")
                warm.append(timed(partial(opened.history.compile, "main")))
    details = {"cold_ms": statistics.median(cold) * 1e3, "floor_ms": statistics.median(floor) * 1e3}
    details |= {"best_cold_ms": min(cold) * 1e3, "best_floor_ms": min(floor) * 1e3}
    ratio = statistics.median(ours / plain for ours, plain in zip(cold, floor, strict=True))
    yield _at_most(f"compile {count:,} commits, cold", "one ordered SELECT of the plain texts", 3.0, ratio, details)
    ratio = statistics.median(after / before for after, before in zip(warm, cold, strict=True))
    yield _at_most("the same after one append", "cold", 1 / 50, ratio, {"warm_ms": statistics.median(warm) * 1e3})


def _forks(count: int) -> Iterator[Row]:
    """Branches from, and children of, a history of 100,000 tokens."""
    with scratch() as folder:
        file = folder / "ramet.db"
        fill_history(folder, "main", messages(200))
        sizes = [file.stat().st_size]
        with ramet.open(file) as opened:
            history = opened.history
            forked = [timed(partial(history.branch, f"fork/{number}", from_="main")) for number in range(count)]
        sizes.append(file.stat().st_size)
        with ramet.open(file) as opened:
            clone = partial(opened.history.spawn, "main", purpose="look", inherit="full_clone")
            spawned = [timed(partial(clone, child=f"child/{number}")) for number in range(count)]
        sizes.append(file.stat().st_size)
    yield from _cost_of_each("fork of 100,000 tokens", (sizes[1] - sizes[0]) / count, forked)
    yield from _cost_of_each("a spawned full clone of the same", (sizes[2] - sizes[1]) / count, spawned)


def _cost_of_each(what: str, size: float, times: list[float]) -> Iterator[Row]:
    each_ms = statistics.median(times) * 1e3
    yield Row(f"{what}: bytes", "each", "<= 300", size, size <= 300)
    details = {"p99_ms": percentile(times, 0.99) * 1e3, "flush_ms": flush_cost_ms()}
    yield Row(f"{what}: ms", "each", "<= 1", each_ms, each_ms <= 1, details)


def _keep(contenders: dict[str, Contender], turns: Sequence[str]) -> dict[str, Measured]:
    """Let all of them keep the same turns, a hundred at a time."""
    measured = {name: Measured() for name in contenders}
    with scratch() as parent:
        folders = {name: parent / str(number) for number, name in enumerate(contenders)}
        with ExitStack() as open_ones:
            appends: dict[str, Append] = {}
            for name, contender in contenders.items():
                folders[name].mkdir()
                appends[name] = open_ones.enter_context(contender(folders[name]))
            for start in range(0, len(turns), _CHUNK):
                for name, append in appends.items():
                    cpu_seconds = time.process_time()
                    measured[name].seconds += timed(partial(append, turns[start : start + _CHUNK]))
                    measured[name].cpu_seconds += time.process_time() - cpu_seconds
        for name, folder in folders.items():
            shutil.rmtree(folder / "logs", ignore_errors=True)
            measured[name].size = kept_bytes(folder)
    return measured


def _peers(names: Sequence[str]) -> dict[str, Contender]:
    found: dict[str, Contender] = {}
    for name in names:
        module, function = _PEERS[name]
        try:
            found[name] = getattr(importlib.import_module(f"benchmarks.{module}"), function)
        except ImportError as error:
            print(f"\nwarning: {name} is not measured: {error}\n  fix: pip install -e '.[bench]'\n", flush=True)
    return found


def fill_history(folder: Path, branch: str, texts: Sequence[str]) -> None:
    """A history, quickly: many commits to a transaction."""
    clock, engine = SystemClock(), Engine(Rules(), codec=Codec(), redactor=Redactor())
    settings = DatabaseSettings(durability="process")
    store = open_store(settings, places_in(folder), clock=clock, faults=Faults())
    db, operation = store.connect(), OPERATIONS["history.commit"]
    for start in range(0, len(texts), 1000):
        db.begin()
        for number, text in enumerate(texts[start : start + 1000]):
            request = Commit(branch=branch, text=text, role="assistant" if number % 2 else "user")
            engine.perform(db, engine.prepare(operation, request, "user"), clock.now_ms())
        db.commit()
    store.close()


def _fill_plain(file: Path, texts: Sequence[str]) -> None:
    database = apsw.Connection(str(file))
    database.execute("CREATE TABLE turns (id INTEGER PRIMARY KEY, role TEXT, content TEXT)")
    with database:
        database.executemany("INSERT INTO turns (role, content) VALUES ('user', ?)", ((text,) for text in texts))
    database.close()


def _read_plain(file: Path) -> float:
    database = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return timed(lambda: database.execute("SELECT role, content FROM turns ORDER BY id").fetchall())
    finally:
        database.close()


def _empty_bytes() -> int:
    with scratch() as folder:
        ramet.open(folder / "ramet.db").close()
        return (folder / "ramet.db").stat().st_size


def _at_most(what: str, against: str, reach: float, ratio: float, details: dict[str, float]) -> Row:
    limit = f"<= 1/{round(1 / reach)}" if reach < 0.5 else f"<= {reach:g}"
    rounded = {name: float(f"{value:.4g}") if value < 1e4 else round(value) for name, value in details.items()}
    return Row(what, against, limit, ratio, ratio <= reach, rounded)
