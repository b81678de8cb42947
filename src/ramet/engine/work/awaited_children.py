"""Awaiting: who waits for which child.

A child that is awaited is outside the queue: whoever waits for it lends it a slot. So nobody may wait for ever: what is
not awaited any more goes back to the queue, or, where its parent ended before it began, comes to its outcome.
"""

from ramet.engine.answers import answers
from ramet.engine.record import lookup
from ramet.engine.transaction import Transaction
from ramet.engine.work import endings
from ramet.errors import InvalidParams
from ramet.model.instant import to_iso
from ramet.model.record.effort import Effort
from ramet.protocol.work.awaited_children import ExpectChildren, Expected, ListStranded, Stranded, TendChildren, Tended
from ramet.store.record import sessions
from ramet.store.spawn import children


@answers(ExpectChildren)
def expect(tx: Transaction, request: ExpectChildren) -> Expected:
    """Note that somebody waits for children, or does no more. Which of them are unfinished."""
    unfinished: dict[int, Effort] = {}
    for session_id in request.session_ids:
        session = lookup.session(tx, session_id, "session_ids")
        if session.id == tx.asker:
            raise InvalidParams(
                "a session cannot wait for itself",
                field="session_ids",
                value=session.id,
                fix="name only sessions that it spawned",
            )
        effort = lookup.effort(tx, session.effort_id)
        if effort.lifecycle != "finished":
            unfinished[effort.id] = effort
    for effort in unfinished.values():
        if request.is_expected:
            _await(tx, effort)
        elif effort.spawn.awaited_by is not None and effort.spawn.awaited_by == _waiter(tx, effort):
            endings.leave(tx, effort, is_parent_over=not _is_open(tx, effort.spawn.awaited_by))
    return Expected(effort_ids=sorted(unfinished))


def _waiter(tx: Transaction, effort: Effort) -> int | None:
    """Who waits: the asker; where the user asks, the child's parent."""
    return effort.spawn.by if tx.asker is None else tx.asker


def _await(tx: Transaction, effort: Effort) -> None:
    """Only a session that is open can lend a slot. What somebody waits for already is not taken away from them."""
    waiter = _waiter(tx, effort)
    if effort.spawn.by is None or waiter is None or effort.spawn.awaited_by == waiter or not _is_open(tx, waiter):
        return
    if effort.spawn.awaited_by is not None and _is_open(tx, effort.spawn.awaited_by):
        return
    children.set_awaited(tx.db, effort.id, waiter)
    tx.record("effort.awaited", task_id=effort.task_id, effort_id=effort.id, data={"awaited_by": waiter})


def _is_open(tx: Transaction, session_id: int) -> bool:
    session = sessions.find(tx.db, session_id)
    return session is not None and session.ended_at is None


@answers(ListStranded)
def list_stranded(tx: Transaction, request: ListStranded) -> Stranded:
    """What waits for somebody who is not there. A daemon that starts has nobody waiting: with its host, nothing on that
    host is awaited, until somebody says so again.
    """
    return Stranded(effort_ids=sorted(_stranded(tx, request)))


@answers(TendChildren)
def tend(tx: Transaction, request: TendChildren) -> Tended:
    """Give what is stranded its place in the queue, or an outcome."""
    found = _stranded(tx, request)
    dropped: list[int] = []
    for effort in found.values():
        is_parent_over = effort.spawn.awaited_by is None or not _is_open(tx, effort.spawn.awaited_by)
        if endings.leave(tx, effort, is_parent_over=is_parent_over):
            dropped.append(effort.id)
    return Tended(dropped=dropped, released=sorted(found.keys() - set(dropped)))


def _stranded(tx: Transaction, request: ListStranded | TendChildren) -> dict[int, Effort]:
    before = to_iso(tx.now_ms - tx.spawn.orphan_seconds * 1000)
    found = {effort.id: effort for effort in children.list_stranded(tx.db, before)}
    if request.is_starting:
        prefix = "" if request.host is None else f"{request.host}/"
        found |= {effort.id: effort for effort in children.list_awaited_on(tx.db, prefix)}
    return found
