"""Admission: whether a claimed effort may begin with the driver that was found for it."""

from msgspec.structs import asdict

from ramet.engine import leases, named, parking, queue
from ramet.engine.transaction import Transaction
from ramet.model.effort import Effort
from ramet.model.skill import artifact_prefix
from ramet.protocol.runs import Admission, AdmitDriver
from ramet.protocol.work import Completed
from ramet.store.parking import Parked


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
    reason = f"{parked.driver} is not used until {parked.until}: {parked.reason}"
    requeued = queue.put_back(tx, effort, reason, failure="limit", not_before=parked.until)
    prefix = artifact_prefix(requeued.ordinal, requeued.skill)
    return Completed(**asdict(requeued), artifact_prefix=prefix, requeued=True)
