"""Stopping running efforts and their children: by a request to the keeper that holds the agent, or at once if nothing
runs yet. A stopped effort is over, or goes back to the queue.
"""

from msgspec.structs import asdict

from ramet.engine.answers import answers
from ramet.engine.record import efforts, lookup
from ramet.engine.transaction import Transaction
from ramet.engine.work import endings, queue
from ramet.errors import InvalidParams, NothingRuns
from ramet.model.record.effort import Effort, StopRequest
from ramet.model.record.session import is_unseen
from ramet.protocol.work.kills import CancelSpawn, Kill, Killed
from ramet.store.record import agents, sessions
from ramet.store.record.sessions import Listing
from ramet.store.spawn import children
from ramet.store.work import queue as queue_rows


@answers(Kill)
def kill(tx: Transaction, request: Kill) -> Killed:
    """Stop a running effort, or cancel a waiting one; with another attempt requested, it waits again."""
    stop = StopRequest(reason=request.reason, requeues=request.requeues)
    return _kill(tx, _meant(tx, request), stop, with_children=request.children)


@answers(CancelSpawn)
def cancel(tx: Transaction, request: CancelSpawn) -> Killed:
    """End what a session serves, and all below it."""
    session = lookup.session(tx, request.session_id)
    stop = StopRequest(reason=request.reason)
    return _kill(tx, lookup.effort(tx, session.effort_id), stop, with_children=request.children)


def _meant(tx: Transaction, request: Kill) -> Effort:
    if (request.effort_id is None) == (request.session_id is None):
        raise InvalidParams(
            "give either effort_id or session_id",
            field="effort_id",
            value=request.effort_id,
            fix="give effort_id for an effort, or session_id for the effort of a session",
        )
    if request.session_id is not None:
        return lookup.effort(tx, lookup.session(tx, request.session_id).effort_id)
    return lookup.effort(tx, request.effort_id or 0)


def _kill(tx: Transaction, effort: Effort, stop: StopRequest, *, with_children: bool) -> Killed:
    lookup.require_unfinished(effort)
    if effort.lifecycle == "active" and effort.lease.owner is None and not _is_unbegun(tx, effort):
        raise NothingRuns(
            f"effort {effort.id} was started by hand: Ramet started no process for it",
            field="effort_id",
            value=effort.id,
        )
    # The children first: those that their parent waits for would else count as left by it.
    below = children.list_unfinished_below(tx.db, effort.id) if with_children else []
    ending = StopRequest(reason=stop.reason or f"effort {effort.id} was stopped")
    also = [child.id for child in below if _end(tx, child, ending).lease.owner]
    is_running = _is_kept(tx, effort)
    already = effort.stop_request is not None if is_running else stop.requeues and effort.lifecycle == "queued"
    ended = _end(tx, effort, stop)
    return Killed(**asdict(efforts.reply(ended, already=already)), is_running=is_running, also=also)


def _is_unbegun(tx: Transaction, effort: Effort) -> bool:
    """Whether nobody holds it, and its sessions still wait for an agent that a person would start."""
    if agents.find_holder(tx.db, effort.id) is not None:
        return False
    listing = Listing(effort_id=effort.id, is_open=True)
    found = sessions.list_matching(tx.db, listing, before=2**63 - 1, limit=tx.limits.page_max)
    return bool(found) and all(is_unseen(session) for session in found)


def _is_kept(tx: Transaction, effort: Effort) -> bool:
    """Whether a keeper holds an agent for it, or held one that is not settled yet."""
    return bool(effort.lease.owner) and sessions.find_kept(tx.db, effort.id, effort.lease.generation) is not None


def _end(tx: Transaction, effort: Effort, stop: StopRequest) -> Effort:
    """Ask its keeper to stop it, once; an effort that does not run is over at once, or waits again."""
    if not _is_kept(tx, effort):
        return _end_unbegun(tx, effort, stop)
    if effort.stop_request is not None:
        return effort
    stopping = queue_rows.request_stop(tx.db, effort.id, stop)
    data = {"reason": stop.reason, "requeues": stop.requeues}
    tx.record("effort.stop_requested", task_id=effort.task_id, effort_id=effort.id, data=data)
    return stopping


def _end_unbegun(tx: Transaction, effort: Effort, stop: StopRequest) -> Effort:
    """Release an effort that has no agent yet."""
    if not stop.requeues:
        return endings.finish_waiting(tx, effort, "cancelled", stop.reason)
    return effort if effort.lifecycle == "queued" else queue.put_back(tx, effort, stop.reason)
