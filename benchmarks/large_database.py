"""A large database, filled with rows instead of operations: a million messages in a minute or two.

    python -m benchmarks.large_database FOLDER [--scale 0.01] [--tree]

Every hash is right, so that `db.check` passes. Some commits are out of reach, so that a collection finds garbage. The
search index starts behind the last event and is empty: building it would take longer than everything else.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

import apsw

from benchmarks.corpus import messages
from benchmarks.daemons import places_in
from benchmarks.tree import opened, plant
from ramet.clock import SystemClock
from ramet.config.settings import Settings
from ramet.faults import Faults
from ramet.model.history.branch import session_branch
from ramet.model.history.commit import CommitFacts, estimate_tokens, hash_commit
from ramet.store import Store, events, open_store
from ramet.store.database.blobs import Blob, Codec
from ramet.store.memory import sources
from ramet.store.memory.index.index_writer import IndexWriter
from ramet.store.memory.index.search_index import SearchIndex

_FIRST_MS = 1_767_600_000_000
_STEP_MS = 1000
_AT = "2026-01-05T08:00:00.000Z"
_TEXTS = 2000
_PAGE = 5000
_EFFORTS_PER_TASK = 100
_PACKERS = 2
_ROLES = (("user", "dialogue"), ("assistant", "dialogue"), ("assistant", "dialogue"), ("tool", "tool_io"))
_CACHE_KIB = 2_000_000

LONG, MIDDLE, SHORT, FORK = "long", "ten-thousand", "one-thousand", "fork"
"""Branches with many commits; `fork` has nine tenths of `ten-thousand` and goes on differently."""
ABSENT = "driver.parked"
"""A kind of event that the database does not have."""


@dataclass(frozen=True)
class Sizes:
    """How much of everything there is."""

    messages: int = 1_000_000
    sessions: int = 10_000
    long: int = 160_000
    middle: int = 10_000
    short: int = 1_000
    beats: int = 100_000
    garbage: int = 5_000

    def scaled(self, scale: float) -> "Sizes":
        """The same in small."""
        parts = (self.messages, self.sessions, self.long, self.middle, self.short, self.beats, self.garbage)
        return Sizes(*(max(int(part * scale), 10) for part in parts))

    def lengths(self) -> list[int]:
        """How many messages each session has: three sessions of a chosen length, the others share the rest."""
        others = self.sessions - 3
        rest = self.messages - self.long - self.middle - self.short
        return [self.long, self.middle, self.short, *(rest // others + (n < rest % others) for n in range(others))]


Packed = tuple[Blob, int]
"""A content ready to be stored, and its tokens."""


@dataclass(frozen=True)
class _Tip:
    """The last commit of a segment; before the first one there is none."""

    id: int | None = None
    hash: bytes | None = None
    seq: int = 0
    token_sum: int = 0


class _Filler:
    """Writes rows in the order of their ids: a commit, its content and its message have the same one."""

    def __init__(self, db: apsw.Connection, packed: Iterator[Packed]) -> None:
        self._db = db
        self._packed = packed
        self._id = 0
        self._segments = 0

    def new_segment(self, base_id: int | None = None, base_seq: int = 0) -> int:
        """A run of commits."""
        self._segments += 1
        self._db.execute("INSERT INTO segments VALUES (?, ?, ?)", (self._segments, base_id, base_seq))
        return self._segments

    def add_commits(self, segment: int, length: int, session: int | None, tip: _Tip) -> _Tip:
        """Commits behind a tip; those of a session are messages, each with its event."""
        done = 0
        while done < length:
            count = min(_PAGE, length - done)
            with self._db:
                tip = self._add_page(segment, count, session, tip)
            done += count
        return tip

    def _add_page(self, segment: int, count: int, session: int | None, tip: _Tip) -> _Tip:
        blobs, commits, rows, events = [], [], [], []
        for _ in range(count):
            self._id += 1
            number, at_ms = self._id, _FIRST_MS + self._id * _STEP_MS
            blob, tokens = next(self._packed)
            role, content_type = _ROLES[number % len(_ROLES)]
            facts = CommitFacts(
                content_hash=blob.hash, content_type=content_type, role=role, author="user", parent=tip.hash
            )
            parent, tip = tip.id, _Tip(number, hash_commit(facts), tip.seq + 1, tip.token_sum + tokens)
            blobs.append((number, blob.hash, blob.codec, blob.size, blob.data))
            place = (number, tip.hash, segment, tip.seq, parent, number, content_type, role)
            commits.append((*place, "user", at_ms, tokens, tip.token_sum))
            if session is not None:
                rows.append((number, session, role, number, "Edit" if role == "tool" else None, at_ms))
                events.append(("message.appended", at_ms, session, f'{{"message":{number}}}'))
        self._insert("blobs (id, hash, codec, size, data)", blobs)
        columns = "id, hash, segment_id, seq, parent_id, blob_id, content_type, role, author, created_ms, tokens"
        self._insert(f"commits ({columns}, token_sum)", commits)
        self._insert("messages (id, session_id, role, commit_id, tool_name, timestamp)", rows)
        self._insert("events (kind, at_ms, session_id, data)", events)
        return tip

    def add_branch(self, name: str, commit_id: int | None) -> None:
        """A name for a commit."""
        self._insert("branches (name, commit_id, created_ms)", [(name, commit_id, _FIRST_MS)])

    def add_beats(self, count: int, sessions: int) -> None:
        """Events without a message."""
        last = _FIRST_MS + self._id * _STEP_MS
        with self._db:
            beats = (("session.heartbeat", last + n, n % sessions + 1, '{"count":1}') for n in range(count))
            self._insert("events (kind, at_ms, session_id, data)", beats)

    def add_work(self, sessions: int) -> None:
        """A project with a task for every hundred efforts, and a session for each effort."""
        efforts = range(sessions)
        finished = "finished", _AT, "success"
        with self._db:
            self._insert("projects (id, path)", [(1, "/large")])
            tasks = range(-(-sessions // _EFFORTS_PER_TASK))
            self._insert("tasks (dir_path, project_id)", ((f"/large/task-{n}", 1) for n in tasks))
            self._insert(
                "efforts (id, task_id, skill, ordinal, lifecycle, finished_at, outcome)",
                ((n + 1, _task(n), "do", n % _EFFORTS_PER_TASK + 1, *finished) for n in efforts),
            )
            self._insert(
                "sessions (id, task_id, effort_id, root_session_id, driver, native_id, branch, created_at, ended_at,"
                " outcome)",
                (
                    (
                        n + 1,
                        _task(n),
                        n + 1,
                        n + 1,
                        "claude",
                        f"large-{n + 1}",
                        session_branch(n + 1),
                        _AT,
                        *finished[1:],
                    )
                    for n in efforts
                ),
            )

    def _insert(self, table: str, rows: Iterable[Sequence[object]]) -> None:
        marks = ", ".join("?" * (table.count(",") + 1))
        self._db.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)


def _task(effort: int) -> str:
    return f"/large/task-{effort // _EFFORTS_PER_TASK}"


def fill(folder: Path, sizes: Sizes | None = None) -> None:
    """A large database in a folder, as `daemons.places_in` names its files."""
    sizes = sizes or Sizes()
    store = open_store(Settings().database, places_in(folder), clock=SystemClock(), faults=Faults())
    db: apsw.Connection = store.connect().database  # type: ignore[attr-defined]
    db.execute(f"PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -{_CACHE_KIB}")
    with ProcessPoolExecutor(_PACKERS) as pool:
        _write(_Filler(db, _packed(pool, sizes.messages + sizes.middle // 10 + sizes.garbage)), sizes)
    _index_nothing(store, folder)
    store.close()


def _write(filler: _Filler, sizes: Sizes) -> None:
    filler.add_work(sizes.sessions)
    names = {1: LONG, 2: MIDDLE, 3: SHORT}
    for session, length in enumerate(sizes.lengths(), start=1):
        segment = filler.new_segment()
        shared = filler.add_commits(segment, length - length // 10, session, _Tip())
        tip = filler.add_commits(segment, length // 10, session, shared)
        filler.add_branch(session_branch(session), tip.id)
        if session in names:
            filler.add_branch(names[session], tip.id)
        if session == 2:
            beside = filler.new_segment(segment, shared.seq)
            filler.add_branch(FORK, filler.add_commits(beside, length // 10, None, shared).id)
    filler.add_commits(filler.new_segment(), sizes.garbage, None, _Tip())
    filler.add_beats(sizes.beats, sizes.sessions)


def _packed(pool: ProcessPoolExecutor, total: int) -> Iterator[Packed]:
    """Contents by number, a few pages ahead of the one that is written."""
    pages = iter([range(start, min(start + _PAGE, total)) for start in range(0, total, _PAGE)])
    ahead = [pool.submit(_pack, page) for page in islice(pages, 2 * _PACKERS)]
    while ahead:
        done = ahead.pop(0).result()
        ahead.extend(pool.submit(_pack, page) for page in islice(pages, 1))
        yield from done


def _pack(numbers: range) -> list[Packed]:
    texts = _texts()
    contents = [f"{number} {texts[number % len(texts)]}" for number in numbers]
    return [(_codec().pack(content.encode()), estimate_tokens(content)) for content in contents]


@cache
def _texts() -> list[str]:
    return messages(_TEXTS)


@cache
def _codec() -> Codec:
    return Codec()


def fill_tree(folder: Path, sessions: int = 100_000) -> None:
    """A second database: one tree of so many sessions below session 1, which writes no text."""
    with opened(folder, None) as site:
        plant(site, sessions)


def _index_nothing(store: Store, folder: Path) -> None:
    """An index that has read every event, and no text."""
    index, reader = SearchIndex(folder / "search.db"), store.connect_reader()
    connection = index.writer()
    connection.begin()
    writer, last = IndexWriter(connection, _codec()), events.find_last(reader)
    writer.put("cursor", last)
    writer.put("mark", sources.find_event_time(reader, last))
    connection.commit()
    index.complete()
    index.close()
    reader.close()


def main() -> None:
    """Fill a folder."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large_database", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scale", type=float, default=1.0, help="a part of the size (default: 1.0)")
    parser.add_argument("--tree", action="store_true", help="a tree of 100,000 sessions instead of the messages")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if arguments.tree:
        fill_tree(arguments.folder, int(100_000 * arguments.scale))
    else:
        fill(arguments.folder, Sizes().scaled(arguments.scale))


if __name__ == "__main__":
    main()
