"""Garbage: what nothing reaches any more. It is found by reading, and deleted in short steps.

A daemon performs the steps one by one, each in a transaction of its own; `history.gc` only writes down what they did.
A program that has opened the database itself performs all of them in one transaction.
"""

from typing import Any

from ramet.engine.answers import answers
from ramet.engine.transaction import Transaction
from ramet.protocol.history.garbage import (
    Collected,
    CollectGarbage,
    GarbagePlan,
    GarbageStep,
    GarbageStepReply,
    PlanGarbage,
)
from ramet.protocol.history.garbage_steps import garbage_steps
from ramet.protocol.operation import Request
from ramet.store.history import garbage, garbage_plans

_DAY_MS = 86_400_000
_NOTHING = Collected(commits=0, blobs=0, segments=0)


class CollectedInSteps(Request[Collected], frozen=True, kw_only=True):
    """A request for which all steps were taken, and what they deleted."""

    asked: CollectGarbage
    deleted: Collected


@answers(CollectGarbage)
def collect(tx: Transaction, given: CollectGarbage | Collected) -> Collected:
    """Delete what no branch, recent move, spawn, collapse or transcript reaches."""
    if isinstance(given, Collected):
        return _record(tx, given)
    # Before the plan is read: in one transaction, a step cannot find out that a branch moves while it waits.
    garbage.hold_branches(tx.db)
    running = garbage_steps(given.retention_days)
    reply: Any = None
    try:
        while True:
            match running.send(reply):
                case PlanGarbage() as request:
                    reply = plan(tx, request)
                case GarbageStep() as request:
                    reply = take_step(tx, request)
    except StopIteration as ended:
        return ended.value  # type: ignore[no-any-return]


@answers(PlanGarbage)
def plan(tx: Transaction, request: PlanGarbage) -> GarbagePlan:
    """What nothing reaches."""
    return garbage_plans.plan(tx.db, tx.now_ms - request.retention_days * _DAY_MS)


@answers(GarbageStep)
def take_step(tx: Transaction, request: GarbageStep) -> GarbageStepReply:
    """Delete a few rows, or write down what all steps have deleted."""
    if request.total is not None:
        return GarbageStepReply(done=0, deleted=_record(tx, request.total))
    done = garbage.delete(tx.db, request)
    if done is None:
        return GarbageStepReply(done=0, deleted=_NOTHING, is_stale=True)
    deleted = Collected(commits=done.commits, blobs=done.blobs, segments=done.segments)
    return GarbageStepReply(done=done.done, deleted=deleted)


def _record(tx: Transaction, deleted: Collected) -> Collected:
    tx.record("history.collected", data={"commits": deleted.commits, "blobs": deleted.blobs})
    return deleted
