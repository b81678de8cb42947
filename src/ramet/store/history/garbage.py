"""Deleting what nothing reaches, a few rows at a time.

A plan says what nothing reached when it was made. A step proves that nothing points at its rows now, by looking at what
is new since the plan; a row that nothing points at cannot be reached, so no step deletes anything that is reachable. If
something has come to point at one of them, the plan is stale and the step deletes nothing.
"""

from msgspec import Struct

from ramet.protocol.history.garbage import GarbageStep
from ramet.store.database.connection import Connection, to_json
from ramet.store.database.queries import QueryFile
from ramet.store.history import commits as stored_commits
from ramet.store.history import images
from ramet.store.history.garbage_plans import image_names

_sql = QueryFile("history/garbage")

_MARGIN = 1000
"""How many commits before the newest are looked at again: a server numbers those of concurrent writers out of order."""
_NEWER = 10_000
"""How many new commits a step looks at, so that it stays short."""
_STEP_BYTES = 1 << 20
"""How many bytes of contents one step deletes, unless a single one has more."""


class Deleted(Struct, frozen=True, kw_only=True):
    """How many of the given rows a step dealt with, and how many of them it deleted."""

    done: int
    commits: int = 0
    blobs: int = 0
    segments: int = 0


def hold_branches(db: Connection) -> None:
    """Let nobody move a branch until this transaction ends. On a server, what is read after it is not older."""
    db.run(_sql.hold_branches)


def delete(db: Connection, step: GarbageStep) -> Deleted | None:
    """Delete the rows of a step; None if the plan is stale."""
    hold_branches(db)
    if step.move_ids:
        db.run(_sql.delete_moves, ids=to_json(step.move_ids), since_ms=step.seen.since_ms)
        return Deleted(done=len(step.move_ids))
    after = max(0, step.seen.commit - _MARGIN)
    if not _is_fresh(db, step):
        return None
    if step.commit_ids:
        return _delete_commits(db, step, after)
    if step.segment_ids:
        return _delete_segments(db, step.segment_ids)
    if step.blob_ids:
        return _delete_blobs(db, step.blob_ids, after)
    return _delete_images(db, step.image_hashes, after)


def _is_fresh(db: Connection, step: GarbageStep) -> bool:
    """Whether the numbers of the plan still mean the same, and few commits are new."""
    seen = step.seen
    if seen.commit and db.one(_sql.is_there, id=seen.commit, hash=bytes.fromhex(seen.hash)) is None:
        return False
    # Above the highest of a step, what the plan found is deleted already.
    newest = max([seen.commit, *step.commit_ids[:1]])
    (newer,) = db.must(_sql.count_newer, after=newest, limit=_NEWER)
    return int(newer) < _NEWER


def _delete_commits(db: Connection, step: GarbageStep, after: int) -> Deleted | None:
    ids = to_json(step.commit_ids)
    # Every commit above the lowest of these is one of them, one that is kept, or new: the others above it are deleted.
    lowest = max(after, step.commit_ids[-1])
    margin = {"move": max(0, step.seen.move - _MARGIN), "message": max(0, step.seen.message - _MARGIN)}
    if db.one(_sql.pointed_at, ids=ids, after=lowest, **margin) is not None:
        return None
    places = db.all(_sql.delete_commits, ids=ids)
    ends: dict[int, int] = {}
    for segment_id, seq in places:
        ends[segment_id] = min(seq - 1, ends.get(segment_id, seq))
    for segment_id, last in ends.items():
        db.run(_sql.cut_purged, segment_id=segment_id, last=last)
        db.run(_sql.forget_purged, segment_id=segment_id, last=last)
    if places:
        stored_commits.revise(db)
    return Deleted(done=len(step.commit_ids), commits=len(places))


def _delete_segments(db: Connection, segment_ids: list[int]) -> Deleted:
    gone = sum(db.one(_sql.delete_segment, id=segment_id) is not None for segment_id in segment_ids)
    return Deleted(done=len(segment_ids), segments=gone)


def _delete_blobs(db: Connection, blob_ids: list[int], after: int) -> Deleted:
    sizes: dict[int, int] = dict(db.all(_sql.blob_sizes, ids=to_json(blob_ids)))
    total = done = 0
    for blob_id in blob_ids:
        total += sizes.get(blob_id, 0)
        if done and total > _STEP_BYTES:
            break
        done += 1
    gone = db.all(_sql.delete_blobs, ids=to_json(blob_ids[:done]), after=after)
    return Deleted(done=done, blobs=len(gone))


def _delete_images(db: Connection, hashes: list[str], after: int) -> Deleted:
    named = {name for (metadata,) in db.all(_sql.new_names, after=after) for name in image_names(metadata)}
    gone = [name for name in hashes if name not in named]
    for name in gone:
        images.delete(db, bytes.fromhex(name))
    return Deleted(done=len(hashes), blobs=len(gone))
