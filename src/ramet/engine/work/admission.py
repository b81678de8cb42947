"""Admission: whether a claimed effort may start with the driver that was found for it."""

from ramet.engine.answers import answers
from ramet.engine.record import efforts, lookup
from ramet.engine.transaction import Transaction
from ramet.engine.work import leases, parked_drivers, queue
from ramet.model.record.effort import Effort
from ramet.protocol.work.drivers import Admission, AdmitDriver
from ramet.protocol.work.leases import Completed
from ramet.store.work.parked_drivers import Parked


@answers(AdmitDriver)
def admit(tx: Transaction, request: AdmitDriver) -> Admission:
    """Let an attempt start, or put the effort back until its driver may be used again."""
    effort = lookup.effort(tx, request.effort_id)
    if not effort.lease.is_of(request.generation):
        raise leases.lost(effort, request.generation)
    parked = parked_drivers.let_one_through(tx, request.driver)
    if parked is None:
        return Admission(is_admitted=True)
    return Admission(is_admitted=False, requeued=_requeue(tx, effort, parked))


def _requeue(tx: Transaction, effort: Effort, parked: Parked) -> Completed:
    reason = f"{parked.driver} is parked until {parked.until}: {parked.reason}"
    requeued = queue.put_back(tx, effort, reason, failure="limit", not_before=parked.until)
    return Completed(**efforts.show(requeued), requeued=True)
