"""What nothing reaches: no branch, no recent move, no spawn, no collapse, no transcript. Found by reading alone.

Everything is read in pages, so that the plan for a million commits takes a few megabytes: one number for each segment
says how far it is reached, one bit for each content says whether a commit carries it.
"""

from array import array
from collections.abc import Iterator

import msgspec

from ramet.model.history.content import IMAGES
from ramet.protocol.history.garbage import GarbagePlan, Seen
from ramet.store.database.connection import Connection, Row
from ramet.store.database.queries import Query, QueryFile

_sql = QueryFile("history/garbage_plans")

_PAGE = 20_000
"""How many rows one statement reads."""
_ROWS = 100_000
"""How many rows of a kind a plan has at most; the next plan has the rest."""
_BITS = 8


class _Reach:
    """How far into each segment anything reaches, following bases, edits and merges."""

    def __init__(self) -> None:
        self._base_ids = array("q")
        self._base_seqs = array("q")
        self._reached = array("q")
        self._links: dict[int, list[tuple[int, int, int]]] = {}
        """By segment: the places that its commits point at beside their parents, with the commit's seq before."""

    def add_segment(self, segment_id: int, base_id: int | None, base_seq: int) -> None:
        missing = segment_id + 1 - len(self._reached)
        for column in (self._base_ids, self._base_seqs, self._reached):
            column.extend([0] * missing)
        self._base_ids[segment_id], self._base_seqs[segment_id] = base_id or 0, base_seq

    def add_link(self, segment_id: int, seq: int, to_segment_id: int, to_seq: int) -> None:
        self._links.setdefault(segment_id, []).append((seq, to_segment_id, to_seq))

    def mark(self, segment_id: int, seq: int) -> None:
        """Something points at this place."""
        waiting = [(segment_id, seq)]
        while waiting:
            segment_id, seq = waiting.pop()
            before = self._reached[segment_id]
            if seq <= before:
                continue
            self._reached[segment_id] = seq
            if self._base_ids[segment_id]:
                waiting.append((self._base_ids[segment_id], self._base_seqs[segment_id]))
            for at, to_segment_id, to_seq in self._links.get(segment_id, ()):
                if before < at <= seq:
                    waiting.append((to_segment_id, to_seq))

    def has(self, segment_id: int, seq: int) -> bool:
        return seq <= self._reached[segment_id]


def plan(db: Connection, since_ms: int) -> GarbagePlan:
    """The next rows to delete, those first that others point from."""
    moves, messages, commits, blobs = db.must(_sql.newest)
    reach = _read_reach(db, since_ms, moves, messages, commits)
    move_ids = [row[0] for row in db.all(_sql.old_moves, since_ms=since_ms, limit=_ROWS)]
    (kept_move,) = db.must(_sql.newest_kept_move, since_ms=since_ms)
    carried = bytearray(blobs // _BITS + 1)
    commit_ids, newest = _sort_commits(db, reach, commits, carried)
    is_whole = max(len(move_ids), len(commit_ids)) < _ROWS
    seen = Seen(
        commit=newest[0],
        hash=newest[1],
        move=kept_move,
        message=messages,
        since_ms=since_ms,
    )
    segment_ids = _find_segments(db, reach)[:_ROWS] if is_whole else []
    blob_ids = _find_blobs(db, carried) if is_whole else []
    return GarbagePlan(
        seen=seen,
        move_ids=move_ids,
        commit_ids=commit_ids,
        segment_ids=segment_ids,
        blob_ids=blob_ids,
        image_hashes=_find_images(db, reach, commits) if is_whole else [],
        is_whole=is_whole and max(len(segment_ids), len(blob_ids)) < _ROWS,
    )


def _ranges(last: int) -> Iterator[dict[str, int]]:
    """The numbers up to one, in pages."""
    for after in range(0, last, _PAGE):
        yield {"after": after, "upto": after + _PAGE}


def _read(db: Connection, query: Query, last: int, **params: int) -> Iterator[Row]:
    for page in _ranges(last):
        yield from db.all(query, **page, **params)


def _read_reach(db: Connection, since_ms: int, moves: int, messages: int, commits: int) -> _Reach:
    reach = _Reach()
    segments, branches, spawns, collapses = db.must(_sql.newest_roots)
    for segment in _read(db, _sql.segments, segments):
        reach.add_segment(*segment)
    for link in _read(db, _sql.links, commits):
        reach.add_link(*link)
    # Only now: a mark follows the links that are known.
    for query, last in (
        (_sql.heads, branches),
        (_sql.spawns, spawns),
        (_sql.collapses, collapses),
        (_sql.messages, messages),
    ):
        for place in _read(db, query, last):
            reach.mark(*place)
    for place in _read(db, _sql.moves, moves, since_ms=since_ms):
        reach.mark(*place)
    return reach


def _sort_commits(db: Connection, reach: _Reach, last: int, carried: bytearray) -> tuple[list[int], tuple[int, str]]:
    """The commits that nothing reaches, the newest first; and the newest of the others. Their contents are noted."""
    gone: list[int] = []
    newest = 0
    for page in reversed(list(_ranges(last))):
        for commit_id, segment_id, seq, blob_id in db.all(_sql.commits, **page):
            if not reach.has(segment_id, seq):
                gone.append(commit_id)
                continue
            newest = newest or commit_id
            carried[blob_id // _BITS] |= 1 << blob_id % _BITS
        if len(gone) >= _ROWS and newest:
            break
    found = db.one(_sql.hash_of, id=newest)
    return gone[:_ROWS], (newest, "" if found is None else bytes(found[0]).hex())


def _find_segments(db: Connection, reach: _Reach) -> list[int]:
    """The segments that nothing reaches, the newest first."""
    (last, *_) = db.must(_sql.newest_roots)
    return [segment_id for segment_id, *_ in _read(db, _sql.segments, last) if not reach.has(segment_id, 1)][::-1]


def _find_blobs(db: Connection, carried: bytearray) -> list[int]:
    """The contents that no commit carries which is kept. They are read in the order of their hashes: that index is
    small, and the table itself has every text in it.
    """
    found: list[int] = []
    after = b""
    while len(found) < _ROWS and (rows := db.all(_sql.blobs, after=after, limit=_PAGE)):
        found += [blob_id for _, blob_id in rows if not carried[blob_id // _BITS] >> blob_id % _BITS & 1]
        after = bytes(rows[-1][0])
    return found[:_ROWS]


def _find_images(db: Connection, reach: _Reach, last: int) -> list[str]:
    """The images that no commit names which is kept."""
    named: set[str] = set()
    for segment_id, seq, metadata in _read(db, _sql.naming, last):
        if reach.has(segment_id, seq):
            named.update(image_names(metadata))
    return [name for (image_hash,) in db.all(_sql.images) if (name := bytes(image_hash).hex()) not in named]


def image_names(metadata: str) -> list[str]:
    """The images that a commit names."""
    found = msgspec.json.decode(metadata).get(IMAGES)
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []
