"""Daily and project budgets: what was used of them, by everybody who shares the database."""

from collections.abc import Iterable

from ramet.engine.answers import answers
from ramet.engine.record import lookup
from ramet.engine.transaction import Transaction
from ramet.model.instant import from_datetime
from ramet.model.record.budget import Bound, BudgetUse
from ramet.protocol.record.daily_budgets import MeasureBounds
from ramet.protocol.replies import Page
from ramet.store.record import efforts, usage_times


@answers(MeasureBounds)
def measure_bounds(tx: Transaction, request: MeasureBounds) -> Page[BudgetUse]:
    """What was used of each bound."""
    if request.effort_id is not None:
        project_id: int | None = efforts.project_of(tx.db, lookup.effort(tx, request.effort_id).id)
    else:
        project_id = lookup.project_id(tx, request.project)
    return Page(items=measure(tx, request.bounds, project_id))


def measure(tx: Transaction, bounds: Iterable[Bound], project_id: int | None) -> list[BudgetUse]:
    """The same for a project that is known. Without one, only the bounds of all projects count."""
    return [_measure(tx, bound, project_id) for bound in bounds if project_id is not None or not bound.is_project]


def _measure(tx: Transaction, bound: Bound, project_id: int | None) -> BudgetUse:
    since_ms = 0 if bound.since is None else from_datetime(bound.since)
    whose = project_id if bound.is_project else None
    spent = usage_times.sum_since(tx.db, since_ms, whose)
    return BudgetUse(
        key=bound.key,
        project_id=whose,
        unit=bound.unit,
        limit=bound.limit,
        spent=spent.tokens if bound.unit == "tokens" else spent.cost_usd,
        is_cost_estimated=spent.is_cost_estimated,
        resets_at=bound.resets_at,
    )
