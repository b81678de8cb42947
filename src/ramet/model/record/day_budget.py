"""Daily and project budgets: how much may be used before no more work starts.

Unlike the budget of a session they stop nothing that runs: efforts stay queued until the day is over or the budget is
raised.
"""

from datetime import datetime

from msgspec import Struct

from ramet.model.record.budget import Unit

_NOTHING = 1e-9


class Bound(Struct, frozen=True, kw_only=True):
    """A budget, as the configuration sets it."""

    key: str
    """The configuration key that sets it."""
    is_project: bool
    """Whether it is of one project; else it is of all together."""
    unit: Unit
    limit: float
    since: datetime | None = None
    """The start of the day; None: everything counts."""
    resets_at: datetime | None = None
    """When the next day starts."""


class BudgetUse(Struct, frozen=True, kw_only=True):
    """A daily or project budget, and what was used of it."""

    key: str
    project_id: int | None
    """None: all projects together."""
    unit: Unit
    limit: float
    spent: float
    is_cost_estimated: bool = False
    """Whether a part of the cost is estimated from the price table."""
    resets_at: datetime | None = None
    """When it starts again; None: never, it is not of a day."""

    @property
    def is_reached(self) -> bool:
        return self.limit - self.spent <= _NOTHING


def describe(use: BudgetUse) -> str:
    """`the daily budget is used up: $10.02 of $10.00 (budget.daily_usd)`."""
    whose = "budget" if use.project_id is None else "budget of the project"
    day = "" if use.resets_at is None else "daily "
    mark = "~" if use.is_cost_estimated and use.unit == "cost_usd" else ""
    spent, limit = _say(use, use.spent), _say(use, use.limit)
    return f"the {day}{whose} is used up: {mark}{spent} of {limit} ({use.key})"


def _say(use: BudgetUse, amount: float) -> str:
    return f"{amount:,.0f} tokens" if use.unit == "tokens" else f"${amount:,.2f}"
