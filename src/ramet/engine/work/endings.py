"""Endings: what follows when an effort is over, in the same transaction, however it ended.

Its run continues or ends; its parent gets its result; and the children that it awaited, outside the queue, do not wait
for ever.
"""

from ramet.engine.answers import answers
from ramet.engine.record import efforts, lookup, ownership, sessions, tasks
from ramet.engine.runs import run_lines
from ramet.engine.spawn import results
from ramet.engine.transaction import Transaction
from ramet.errors import EffortHeld
from ramet.model.event import EventKind
from ramet.model.record.effort import Effort, Outcome
from ramet.protocol.record.efforts import EffortReply, FinishEffort
from ramet.store.record import efforts as effort_rows
from ramet.store.spawn import children
from ramet.store.work import queue
from ramet.store.work.queue import Settlement

PARENT_OVER = "its parent ended before it started"


@answers(FinishEffort)
def finish(tx: Transaction, request: FinishEffort) -> EffortReply:
    """Finish an effort and free its holder. A second time changes nothing."""
    effort = lookup.effort(tx, request.effort_id)
    if effort.lifecycle == "finished":
        return efforts.reply(effort, already=True)
    if effort.lease.owner is not None:
        raise EffortHeld(
            f"effort {effort.id} is leased to {effort.lease.owner!r}",
            field="effort_id",
            value=effort.id,
            fix=f"wait until its worker finishes it, or stop it with `ramet kill e{effort.id}`",
        )
    effort = effort_rows.finish(tx.db, effort.id, request.outcome, tx.now)
    tx.record("effort.finished", task_id=effort.task_id, effort_id=effort.id, data={"outcome": request.outcome})
    ownership.release(tx, effort.id)
    effort = ended(tx, effort)
    leave_children(tx, effort.id)
    if request.keywords is not None:
        tasks.add_keywords(tx, effort.task_id, request.keywords)
    return efforts.reply(effort)


def finish_waiting(tx: Transaction, effort: Effort, outcome: Outcome, reason: str | None) -> Effort:
    """Finish an effort for which nothing runs."""
    settlement = Settlement(
        lifecycle="finished",
        finished_at=tx.now,
        outcome=outcome,
        reason=reason,
        failure=effort.retry.failure,
        agent_failures=effort.retry.agent_failures,
        host_failures=effort.retry.host_failures,
    )
    sessions.end_all(tx, effort.id, outcome, reason)
    finished = queue.settle(tx.db, effort.id, settlement)
    tx.record("effort.finished", task_id=effort.task_id, effort_id=effort.id, data={"outcome": outcome})
    finished = ended(tx, finished)
    leave_children(tx, effort.id)
    return finished


def ended(tx: Transaction, effort: Effort) -> Effort:
    """An effort has its outcome: update its run and its parent."""
    run_lines.ended(tx, effort)
    return effort if effort.spawn.by is None else results.give_to_parent(tx, effort)


def leave_children(tx: Transaction, effort_id: int) -> None:
    """Release the children that an effort waited for."""
    for child in children.list_awaited(tx.db, effort_id):
        leave(tx, child, is_parent_over=True)


def leave(tx: Transaction, child: Effort, *, is_parent_over: bool) -> bool:
    """Release an awaited child. If it never started and its parent is over, it is dropped; any other continues, and if
    it waits, the queue has it from now on. Returns whether it was dropped.
    """
    if is_parent_over and child.lifecycle == "queued" and child.retry.attempts == 0:
        finish_waiting(tx, child, "dropped", PARENT_OVER)
        return True
    children.set_awaited(tx.db, child.id, None)
    kind: EventKind = "effort.queued" if child.lifecycle == "queued" else "effort.awaited"
    tx.record(kind, task_id=child.task_id, effort_id=child.id, data={"skill": child.skill, "awaited_by": None})
    return False
