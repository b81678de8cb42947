"""Transcripts on their way into the store, against a floor: the same lines decoded, and the same texts in plain SQLite.

The floor reads the file piece by piece as we do and flushes as often. But it has no ids, hashes or history, redacts and
compresses nothing, and would write everything twice. Then a long one through a daemon, with an agent that calls its
hooks meanwhile.
"""

import json
import os
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import msgspec

from benchmarks.daemons import STARTED, places_in, running
from benchmarks.harness import Row, interleaved, percentile, scratch, timed
from benchmarks.transcript_files import Growing
from ramet.client.connection import Connection
from ramet.clock import SystemClock
from ramet.config.environment import read_environment
from ramet.config.settings import Settings
from ramet.engine import Engine
from ramet.faults import Faults
from ramet.model.hooks.hook import HookEvent
from ramet.model.principal import USER
from ramet.protocol.hooks.hooks import HookFacts, RecordHook
from ramet.protocol.hooks.transcripts import AddEntries
from ramet.protocol.operation import Request
from ramet.store import open_store
from ramet.vendors import registry
from ramet.vendors.contract.transcript_files import Piece, Position, read_piece

_MB = 1_000_000
_LINES = 200
"""How many lines are put behind each file, one at a time."""
_HOOKS = 300
"""How many hooks are called before a long file is read."""


def measure(thorough: bool) -> Iterator[Row]:
    """Files of each vendor, longer and longer; then a long one through a daemon."""
    sizes = [1, 10, 50] if thorough else [1, 10]
    for vendor in registry.transcripts():
        with ExitStack() as stack:
            folder = stack.enter_context(scratch())
            sites = [stack.enter_context(closing(Site(folder / str(size), vendor, size))) for size in sizes]
            yield from _whole(vendor, sizes, sites, 3 if thorough else 1)
            yield _one_line(vendor, sizes, sites)
    yield _through_daemon(sizes[-1])


class Site:
    """A transcript, a database, and what a daemon does with them."""

    def __init__(self, folder: Path, vendor: str, size: int) -> None:
        folder.mkdir()
        self.growing = Growing(folder / "transcript.jsonl", vendor)
        self.growing.grow(size * _MB)
        self.position = Position()
        settings = Settings()
        self._engine = Engine.configured(settings, read_environment(os.environ, settings), {})
        self._clock = SystemClock()
        self._folder = folder
        self._numbers = count()
        self._reader = registry.transcripts()[vendor]
        self.begin()

    def begin(self) -> None:
        """With an empty database, and a session whose transcript it is."""
        places = places_in(self._folder / str(next(self._numbers)))
        self._store = open_store(Settings().database, places, clock=self._clock, faults=Faults())
        self._db = self._store.connect()
        vendor, path = self.growing.vendor, str(self.growing.file)
        event = HookEvent(
            vendor=vendor, moment="stop", name="Stop", native_id="one", cwd="/bench", transcript_path=path
        )
        self._session_id = int(self._ask(RecordHook(event=event, facts=HookFacts(project="/bench"))).session_id)

    def close(self) -> None:
        """Let go of the database."""
        self._store.close()
        self._db.close()

    def pieces(self, position: Position) -> Iterator[Piece]:
        """The file from there on, as it is read and understood."""
        is_last = False
        while not is_last:
            piece = read_piece(self.growing.file, position, self._reader)
            assert piece is not None
            yield piece
            position, is_last = piece.position, piece.is_last

    def decode(self) -> None:
        """Only the lines."""
        with self.growing.file.open("rb") as lines:
            for line in lines:
                msgspec.json.decode(line)

    def keep_texts(self, texts: list[list[str]]) -> None:
        """The floor: the lines, and the texts of each piece in one transaction."""
        self.decode()
        database = apsw.Connection(str(self._folder / f"floor-{next(self._numbers)}.db"))
        for statement in ("PRAGMA journal_mode = wal", "PRAGMA synchronous = full", "CREATE TABLE texts (text TEXT)"):
            database.execute(statement).fetchall()
        for piece in texts:
            with database:
                database.executemany("INSERT INTO texts VALUES (?)", ((text,) for text in piece))
        database.close()

    def read(self, position: Position) -> int:
        """All that follows, into the store; how many entries that were."""
        entries = 0
        for piece in self.pieces(position):
            self.position, entries = piece.position, entries + len(piece.reading.entries)
            self._ask(
                AddEntries(
                    session_id=self._session_id,
                    path=str(self.growing.file),
                    offset=piece.position.offset,
                    inode=piece.position.inode,
                    entries=piece.reading.entries,
                    counts_subagents=self._reader.counts_subagents,
                )
            )
        return entries

    def _ask(self, request: Request[Any]) -> Any:
        call = self._engine.prepare(request.op, request, USER)
        self._db.begin()
        reply = self._engine.perform(self._db, call, self._clock.now_ms())
        self._db.commit()
        return reply


def _whole(vendor: str, sizes: list[int], sites: list[Site], rounds: int) -> Iterator[Row]:
    """Whole files into an empty store, and once more into the same."""
    each = [_measure_whole(site, size, rounds) for site, size in zip(sites, sizes, strict=True)]
    last, what = each[-1], f"a transcript of {sizes[-1]} MB ({vendor})"
    rates = {f"{name}_mb_s": round(1 / seconds, 1) for name, seconds in last._asdict().items()}
    floor, decoding, again = last.stored / last.floor, last.stored / last.decoded, last.again / last.stored
    yield Row(f"{what} into the store", "its texts into SQLite", "", floor, True, rates)
    yield Row(f"{what} into the store", "decoding it", "<= 10", decoding, decoding <= 10)
    yield Row(f"{what} read again", "the first time", "<= 0.75", again, again <= 0.75)
    per_mb = {f"ms_{size}": round(taken.processor * 1000, 1) for taken, size in zip(each, sizes, strict=True)}
    growth, what = last.processor / each[0].processor, f"1 MB of {sizes[-1]} MB ({vendor}), processor time"
    yield Row(what, "1 MB of 1 MB", "<= 1.2", growth, growth <= 1.2, per_mb)


class _Seconds(NamedTuple):
    """What a megabyte takes."""

    decoded: float
    floor: float
    stored: float
    again: float
    processor: float
    """Of `stored`: the files are not read at the same moment, and the machine may be busier at one than at another."""


def _measure_whole(site: Site, size: int, rounds: int) -> _Seconds:
    """All ways with one file, taking turns."""
    texts = [[entry.text for entry in piece.reading.entries] for piece in site.pieces(Position())]
    processor: list[float] = []

    def store() -> float:
        site.close()
        site.begin()
        before = time.process_time()
        seconds = timed(partial(site.read, Position()))
        processor.append(time.process_time() - before)
        return seconds

    taken = interleaved(
        partial(timed, site.decode),
        partial(timed, partial(site.keep_texts, texts)),
        store,
        partial(timed, partial(site.read, Position())),
        rounds=rounds,
    )
    return _Seconds(*(seconds / size for seconds in (*taken, statistics.median(processor))))


def _one_line(vendor: str, sizes: list[int], sites: list[Site]) -> Row:
    """The files grow by a line at a time, in turns, and each is read."""
    taken: list[list[float]] = [[] for _ in sites]
    for _ in range(_LINES):
        for site, samples in zip(sites, taken, strict=True):
            site.growing.grow()
            start = time.perf_counter()
            if site.read(site.position):
                samples.append(time.perf_counter() - start)
    medians = [statistics.median(samples) for samples in taken]
    ratio, what = medians[-1] / medians[0], f"one more line after {sizes[-1]} MB ({vendor})"
    details: dict[str, float] = {
        f"us_{size}": round(seconds * 1e6) for size, seconds in zip(sizes, medians, strict=True)
    }
    return Row(what, "after 1 MB", "<= 1.2", ratio, ratio <= 1.2, details)


def _through_daemon(size: int) -> Row:
    """A session with a long transcript is met, and about to be compacted; another one calls its hooks meanwhile."""
    with scratch() as folder:
        growing = Growing(folder / "long.jsonl", "claude")
        growing.grow(size * _MB)
        places = places_in(folder / "home")
        with running(places), Connection(str(places.socket), STARTED) as connection:
            caller = partial(_call, connection, folder)
            caller("SessionStart", "short")
            before = [timed(partial(caller, "PreToolUse", "short", tool_name="Bash")) for _ in range(_HOOKS)]
            start, length = time.perf_counter(), growing.file.stat().st_size
            caller("SessionStart", "long")
            meanwhile = []
            while _read_bytes(connection, growing.file) < length:
                meanwhile.append(timed(partial(caller, "PreToolUse", "short", tool_name="Bash")))
            seconds = time.perf_counter() - start
            compacting = timed(partial(caller, "PreCompact", "long"))
    slow = [percentile(values, 0.95) * 1000 for values in (before, meanwhile)]
    details = {
        "p95_before_ms": round(slow[0], 2),
        "p95_meanwhile_ms": round(slow[1], 2),
        "most_meanwhile_ms": round(max(meanwhile) * 1000, 1),
        "daemon_mb_s": round(size / seconds, 1),
        "compacting_ms": round(compacting * 1000, 1),
    }
    return Row(f"a hook while {size} MB are read, its p95", "before", "", slow[1] / slow[0], True, details)


def _call(connection: Connection, folder: Path, name: str, session: str, **said: Any) -> None:
    payload = {
        "hook_event_name": name,
        "session_id": session,
        "transcript_path": str(folder / f"{session}.jsonl"),
        "cwd": str(folder),
        **said,
    }
    connection.call("hooks.event", {"vendor": "claude", "payload": json.dumps(payload)})


def _read_bytes(connection: Connection, file: Path) -> int:
    return sum(row["offset"] for row in connection.call("ingest.list", {"path": str(file)})["items"])
