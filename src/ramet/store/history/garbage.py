"""Deleting what nothing reaches: no branch, no recent move, no spawn, no collapse, no transcript."""

from msgspec import Struct

from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile
from ramet.store.history import commits as stored_commits
from ramet.store.history import images

_sql = QueryFile("history/garbage")


class Deleted(Struct, frozen=True):
    """How much was deleted."""

    commits: int
    blobs: int
    segments: int


def collect(db: Connection, since_ms: int) -> Deleted:
    """Delete it; moves from before an instant are forgotten first."""
    db.run(_sql.forget_moves, since_ms=since_ms)
    segments = {row[0]: (row[1], row[2], row[3]) for row in db.all(_sql.segments)}
    reached = _reach(db, segments, _roots(db, since_ms))
    commits = gone = 0
    for segment_id, (_, _, length) in segments.items():
        if length > reached.get(segment_id, 0):
            commits += len(db.all(_sql.delete_commits, segment_id=segment_id, last=reached.get(segment_id, 0)))
        if segment_id not in reached:
            db.run(_sql.delete_segment, segment_id=segment_id)
            gone += 1
    if commits:
        stored_commits.revise(db)
    return Deleted(commits, len(db.all(_sql.delete_blobs)) + images.collect(db), gone)


def _roots(db: Connection, since_ms: int) -> list[tuple[int, int]]:
    rows = [*db.all(_sql.heads), *db.all(_sql.moves, since_ms=since_ms), *db.all(_sql.spawns)]
    rows += [*db.all(_sql.collapses), *db.all(_sql.messages)]
    return [(row[0], row[1]) for row in rows]


def _reach(
    db: Connection, segments: dict[int, tuple[int | None, int, int]], roots: list[tuple[int, int]]
) -> dict[int, int]:
    """How far into each segment anything reaches, following bases, edits and merges."""
    reached: dict[int, int] = {}
    waiting = list(roots)
    while waiting:
        segment_id, seq = waiting.pop()
        if seq <= reached.get(segment_id, 0):
            continue
        reached[segment_id] = seq
        base_segment_id, base_seq, _ = segments[segment_id]
        if base_segment_id is not None:
            waiting.append((base_segment_id, base_seq))
        waiting += [(row[0], row[1]) for row in db.all(_sql.links, segment_id=segment_id, last=seq)]
    return reached
