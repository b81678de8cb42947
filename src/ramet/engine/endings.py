"""Endings: what follows when an effort is over, in the same transaction, however it ended.

Its run goes on or ends; whoever spawned it gets its result; and what it was waiting for, outside the queue, does not
wait for ever.
"""

from ramet.engine import lines, sessions, spawn_results
from ramet.engine.transaction import Transaction
from ramet.model.effort import Effort, Outcome
from ramet.model.event import EventKind
from ramet.store import queue, spawning
from ramet.store.queue import Settlement

PARENT_OVER = "its parent ended before it began"


def finish_waiting(tx: Transaction, effort: Effort, outcome: Outcome, reason: str | None) -> Effort:
    """Finish an effort for which nothing runs."""
    settlement = Settlement(
        lifecycle="finished",
        finished_at=tx.now,
        outcome=outcome,
        reason=reason,
        failure=effort.failure,
        agent_failures=effort.agent_failures,
        host_failures=effort.host_failures,
    )
    sessions.end_all(tx, effort.id, outcome, reason)
    finished = queue.settle(tx.db, effort.id, settlement)
    tx.record("effort.finished", task_id=effort.task_id, effort_id=effort.id, data={"outcome": outcome})
    finished = ended(tx, finished)
    leave_children(tx, effort.id)
    return finished


def ended(tx: Transaction, effort: Effort) -> Effort:
    """An effort has come to its outcome: its run and its parent hear of it."""
    lines.ended(tx, effort)
    return effort if effort.spawned_by is None else spawn_results.give_to_parent(tx, effort)


def leave_children(tx: Transaction, effort_id: int) -> None:
    """Nobody waits any more for what an effort waited for."""
    for child in spawning.list_awaited(tx.db, effort_id):
        leave(tx, child, is_parent_over=True)


def leave(tx: Transaction, child: Effort, *, is_parent_over: bool) -> bool:
    """Nobody waits for a child any more. One that never began, whose parent is over, is dropped; any other goes on, and
    where it waits the queue has it from now on. Whether it was dropped.
    """
    if is_parent_over and child.lifecycle == "queued" and child.attempts == 0:
        finish_waiting(tx, child, "dropped", PARENT_OVER)
        return True
    spawning.set_awaited(tx.db, child.id, None)
    kind: EventKind = "effort.queued" if child.lifecycle == "queued" else "effort.awaited"
    tx.record(kind, task_id=child.task_id, effort_id=child.id, data={"skill": child.skill, "awaited_by": None})
    return False
