"""Ending what runs: by asking the keeper that holds the agent, or at once where nothing runs yet.

What is ended is over, or goes back to the queue.
"""

from msgspec.structs import asdict

from ramet.engine import efforts, named, queue
from ramet.engine.transaction import Transaction
from ramet.errors import InvalidParams, NothingRuns
from ramet.model.effort import Effort, StopRequest
from ramet.protocol.work import Kill, Killed
from ramet.store import queue as queue_rows
from ramet.store import sessions


def kill(tx: Transaction, request: Kill) -> Killed:
    """End a running effort, or cancel one that waits; where it is to be attempted again, it waits."""
    effort = _meant(tx, request)
    named.require_unfinished(effort)
    if effort.lifecycle == "active" and effort.lease_owner is None:
        raise NothingRuns(
            f"effort {effort.id} was started by hand: nothing runs for it that Ramet started",
            field="effort_id",
            value=effort.id,
        )
    if effort.lease_owner and sessions.find_kept(tx.db, effort.id, effort.lease_generation) is not None:
        return _request_stop(tx, effort, StopRequest(reason=request.reason, requeues=request.requeues))
    if request.requeues:
        return _put_back(tx, effort, request.reason)
    return _killed(queue.finish_waiting(tx, effort, "cancelled", request.reason), is_running=False)


def _meant(tx: Transaction, request: Kill) -> Effort:
    if (request.effort_id is None) == (request.session_id is None):
        raise InvalidParams("give effort_id or session_id, one of the two", field="effort_id", value=request.effort_id)
    if request.session_id is not None:
        return named.effort(tx, named.session(tx, request.session_id).effort_id)
    return named.effort(tx, request.effort_id or 0)


def _request_stop(tx: Transaction, effort: Effort, stop: StopRequest) -> Killed:
    if effort.stop_request is not None:
        return _killed(effort, is_running=True, already=True)
    stopping = queue_rows.request_stop(tx.db, effort.id, stop)
    data = {"reason": stop.reason, "requeues": stop.requeues}
    tx.record("effort.stop_requested", task_id=effort.task_id, effort_id=effort.id, data=data)
    return _killed(stopping, is_running=True)


def _put_back(tx: Transaction, effort: Effort, reason: str | None) -> Killed:
    """Let go of an effort that was claimed, and has no agent yet."""
    if effort.lifecycle == "queued":
        return _killed(effort, is_running=False, already=True)
    return _killed(queue.put_back(tx, effort, reason), is_running=False)


def _killed(effort: Effort, *, is_running: bool, already: bool = False) -> Killed:
    return Killed(**asdict(efforts.reply(effort, already=already)), is_running=is_running)
