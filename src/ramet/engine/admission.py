"""Admission: whether a claimed effort may begin with the driver that was found for it."""

from msgspec.structs import asdict

from ramet.engine import leases, named, parking
from ramet.engine.transaction import Transaction
from ramet.model.effort import Effort
from ramet.model.skill import artifact_prefix
from ramet.protocol.runs import Admission, AdmitDriver
from ramet.protocol.work import Completed
from ramet.store import parking as parking_rows
from ramet.store import queue
from ramet.store.parking import Parked
from ramet.store.queue import Settlement


def admit(tx: Transaction, request: AdmitDriver) -> Admission:
    """Let an attempt begin, or put the effort back until its driver may be used again."""
    effort = named.effort(tx, request.effort_id)
    if not leases.is_current(effort, request.generation):
        raise leases.lost(effort, request.generation)
    parked = parking.let_one_through(tx, request.driver)
    if parked is None:
        return Admission(is_admitted=True)
    return Admission(is_admitted=False, requeued=_requeue(tx, effort, parked))


def _requeue(tx: Transaction, effort: Effort, parked: Parked) -> Completed:
    """As if nobody had claimed it: no attempt is counted, and the next one goes on where this one would have."""
    parking_rows.uncount(tx.db, effort.id)
    reason = f"{parked.driver} is not used until {parked.until}: {parked.reason}"
    settlement = Settlement(
        lifecycle="queued",
        reason=reason,
        failure="limit",
        not_before=parked.until,
        continues_session_id=effort.continues_session_id,
        agent_failures=effort.agent_failures,
        host_failures=effort.host_failures,
    )
    requeued = queue.settle(tx.db, effort.id, settlement)
    data = {"failure": "limit", "reason": reason, "attempt": requeued.attempts, "not_before": parked.until}
    tx.record("effort.requeued", task_id=effort.task_id, effort_id=effort.id, data=data)
    prefix = artifact_prefix(requeued.ordinal, requeued.skill)
    return Completed(**asdict(requeued), artifact_prefix=prefix, requeued=True)
