"""The steps of a garbage collection, one after the other. After an interruption a new plan finds the rest.

A step is a short transaction, so that no request waits for a collection. The order is that of the pointers: moves point
at commits, later commits at earlier ones, commits at segments and contents. Nothing points at a row when it is deleted,
so the database is whole between any two steps.
"""

from collections.abc import Callable, Generator
from typing import Any

from msgspec.structs import replace

from ramet.protocol.history.garbage import Collected, GarbagePlan, GarbageStep, GarbageStepReply, PlanGarbage
from ramet.protocol.operation import Request

_STEP = {"move_ids": 500, "commit_ids": 200, "segment_ids": 200, "blob_ids": 200, "image_hashes": 4}
"""How many rows of each kind one step deletes, in order: about 5 ms of the writer, and an image may have megabytes."""

Advance = Callable[[int, int], None]
"""Called with how many rows are done, and how many there are as far as is known."""


def garbage_steps(
    retention_days: int, advance: Advance = lambda _done, _total: None
) -> Generator[Request[Any], Any, Collected]:
    """A generator that gives requests and is sent their replies, until nothing is left. It returns what was deleted.

    It neither waits nor asks by itself, so that commands, the daemon and the engine run the same steps.
    """
    deleted, done = Collected(commits=0, blobs=0, segments=0), 0
    while True:
        plan: GarbagePlan = yield PlanGarbage(retention_days=retention_days)
        total = done + plan.rows
        waiting = list(_steps(plan))[::-1]
        while waiting:
            step = waiting.pop()
            reply: GarbageStepReply = yield step
            if reply.is_stale:
                break
            deleted, done = _add(deleted, reply.deleted), done + reply.done
            advance(done, total)
            waiting += _rest(step, reply.done)
        else:
            if plan.is_whole:
                yield GarbageStep(seen=plan.seen, total=deleted)
                return deleted


def _steps(plan: GarbagePlan) -> Generator[GarbageStep, None, None]:
    for name, size in _STEP.items():
        rows = getattr(plan, name)
        for first in range(0, len(rows), size):
            yield GarbageStep(seen=plan.seen, **{name: rows[first : first + size]})


def _rest(step: GarbageStep, done: int) -> list[GarbageStep]:
    """What a step has left over, because its rows were large."""
    name = next(name for name in _STEP if getattr(step, name))
    rows = getattr(step, name)[done:]
    return [replace(step, **{name: rows})] if rows else []


def _add(one: Collected, other: Collected) -> Collected:
    return Collected(
        commits=one.commits + other.commits,
        blobs=one.blobs + other.blobs,
        segments=one.segments + other.segments,
    )
