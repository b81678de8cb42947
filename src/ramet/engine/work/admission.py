"""Admission: whether a claimed effort may start: with the driver that was found for it, and within the budgets of the
day and of its project.
"""

from ramet.engine.answers import answers
from ramet.engine.record import daily_budgets, efforts, lookup
from ramet.engine.system import notices
from ramet.engine.transaction import Transaction
from ramet.engine.work import leases, parked_drivers, queue
from ramet.model.instant import from_datetime, to_iso
from ramet.model.record.budget import BudgetUse, describe
from ramet.model.record.effort import Effort
from ramet.protocol.work.drivers import Admission, AdmitDriver, Hold, HoldWork
from ramet.protocol.work.leases import Completed
from ramet.store.record import efforts as effort_rows
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


@answers(HoldWork)
def hold(tx: Transaction, request: HoldWork) -> Hold:
    """Keep an effort from starting if a budget is used up. It waits for no time, so that it starts as soon as there is
    room again: the next day, or when a person raises the budget.
    """
    effort = lookup.effort(tx, request.effort_id)
    if request.generation is not None and not effort.lease.is_of(request.generation):
        raise leases.lost(effort, request.generation)
    uses = daily_budgets.measure(tx, request.bounds, effort_rows.project_of(tx.db, effort.id))
    reached = [use for use in uses if use.is_reached]
    for use in reached:
        _tell(tx, effort, use)
    if not reached or request.generation is None:
        return Hold(reached=reached)
    requeued = queue.put_back(tx, effort, describe(reached[0]), not_before=None)
    return Hold(reached=reached, requeued=Completed(**efforts.show(requeued), requeued=True))


def _tell(tx: Transaction, effort: Effort, use: BudgetUse) -> None:
    """One notice for each budget and day; of one that is for ever, for each of its limits."""
    until = "until it is raised" if use.resets_at is None else f"until {to_iso(from_datetime(use.resets_at))}"
    period = f"{use.limit}" if use.resets_at is None else to_iso(from_datetime(use.resets_at))
    text = f"{describe(use)}; no more work starts {until}, or raise it: `ramet config set {use.key} LIMIT`"
    notices.add(tx, "budget", effort, text, key=f"{use.key}/{use.project_id or 'all'}/{period}")
