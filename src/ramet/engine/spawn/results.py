"""What comes of children: a typed result while they run and when they are over, and what the parent's history keeps.

A child is an effort, of which its first session is the name: whichever attempt brought it to its end, the effort has
one outcome.
"""

from typing import assert_never

from ramet.engine.history import child_branches
from ramet.engine.record import budgets
from ramet.engine.transaction import Transaction
from ramet.model.history.child_branch import COLLAPSE_OPENING
from ramet.model.record.effort import Effort, Lifecycle, Outcome
from ramet.model.record.session import Session
from ramet.model.spawn.child import NOTES_CHARACTERS, Progress, SpawnResult
from ramet.protocol.history.child_branches import CollapseReply, Report
from ramet.store.history.child_branches import StoredSpawnPointers
from ramet.store.record import sessions
from ramet.store.spawn import children
from ramet.store.work import queue

_PROGRESS: dict[Lifecycle, Progress] = {"queued": "queued", "active": "running", "finished": "ended"}


def describe(tx: Transaction, session: Session, effort: Effort) -> SpawnResult:
    """How far a child has come; when it is over, what came of it."""
    report = children.find_report(tx.db, effort.id)
    issues = [*(report.failed_approaches if report else ()), *children.list_notices(tx.db, effort.id)]
    return SpawnResult(
        child_session_id=session.id,
        outcome=effort.outcome,
        notes="" if effort.outcome is None else notes(effort.outcome, effort, report),
        status=_PROGRESS[effort.lifecycle],
        artifacts=(report.artifacts or None) if report else None,
        issues=issues or None,
        effort_id=effort.id,
    )


def notes(outcome: Outcome, effort: Effort, report: Report | None) -> str:
    """The child's closing report, else the end of its output; what went wrong comes first."""
    said = child_branches.render_report(report) if report else (effort.output_content or "")[-NOTES_CHARACTERS:]
    match outcome:
        case "success":
            return said
        case "no_change":
            wrong = effort.reason or "the child changed no file"
        case "error":
            wrong = effort.reason or "the child failed"
        case "timeout":
            wrong = effort.reason or "the child ran out of time"
        case "stuck":
            wrong = effort.reason or "the child made no progress"
        case "cancelled":
            wrong = effort.reason or "the child was cancelled"
        case "budget":
            wrong = effort.reason or "the child's budget was used up"
        case "dropped":
            wrong = effort.reason or "the child was never started"
        case _:
            assert_never(outcome)
    return f"{wrong}\n\n{said}" if said else wrong


def give_to_parent(tx: Transaction, effort: Effort) -> Effort:
    """A child is over: its parent's history receives its result, or its output if it has no report, and the unused part
    of its budget is free again.
    """
    first, last = sessions.find_first_of_effort(tx.db, effort.id), sessions.find_last_of_effort(tx.db, effort.id)
    if effort.outcome is None or first is None or last is None:
        return effort
    report = children.find_report(tx.db, effort.id)
    said = notes(effort.outcome, effort, report)
    if report is not None and effort.output_content is None:
        effort = queue.set_output(tx.db, effort.id, said, None)
    budgets.settle(tx, first.id)
    pointer = StoredSpawnPointers(tx.db).get_parent(first.branch)
    # A child that never started did nothing: why not is its result, and no part of its parent's context.
    if pointer is not None and not (effort.outcome == "error" and last.instance is None):
        done = child_branches.fold(tx, pointer, last.branch, said or f"{COLLAPSE_OPENING}{pointer.purpose}")
        record_collapse(tx, first, done)
    return effort


def record_collapse(tx: Transaction, child: Session, done: CollapseReply) -> None:
    """Tell that a parent has taken in what its child did."""
    data = {"parent_session_id": child.parent_session_id, "commit": done.parent_commit_hash}
    tx.record("session.collapsed", task_id=child.task_id, effort_id=child.effort_id, session_id=child.id, data=data)
