"""The rules of budgets: what a session and all below it may use, and what of that is promised.

A budget binds its session, what continues it, and all below. A child's own budget is taken out of the nearest one above
that is still open, as a promise: what the child has not used of it, nobody else may. When the child is over, its budget
is settled: it promises nothing any more, but it goes on binding whatever is left below it.

Daily and project budgets stop nothing that runs: no more work starts until the day is over or the budget is raised.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal

import msgspec
from msgspec import Struct

Unit = Literal["tokens", "cost_usd"]
UNITS: tuple[Unit, ...] = ("tokens", "cost_usd")

_NOTHING = 1e-9
"""Amounts of money are sums of fractions: what differs by less does not differ."""


class Amount(Struct, frozen=True, kw_only=True):
    """So much of each."""

    tokens: int = 0
    cost_usd: float = 0.0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(tokens=self.tokens + other.tokens, cost_usd=self.cost_usd + other.cost_usd)


class Limit(Struct, frozen=True, kw_only=True):
    """At most so much of each; None: any amount."""

    tokens: int | None = None
    cost_usd: float | None = None

    def __bool__(self) -> bool:
        return self.tokens is not None or self.cost_usd is not None


LIMITS = "limits"
"""The name of an effort's own limit among its facts."""


def limit_of(metadata: Mapping[str, object] | None) -> Limit:
    """The limit that an effort was queued with."""
    said = (metadata or {}).get(LIMITS)
    return msgspec.convert(said, Limit) if isinstance(said, dict) else Limit()


def as_metadata(limit: Limit) -> dict[str, object]:
    """The same as facts of a new effort; nothing without a limit."""
    return {LIMITS: {unit: value for unit in UNITS if (value := getattr(limit, unit)) is not None}} if limit else {}


class Budget(Struct, frozen=True, kw_only=True):
    """How much a session and all below it may use, and have used."""

    session_id: int
    limit: Limit
    spent: Amount
    is_settled: bool = False


Promised = Mapping[int, Amount]
"""What of budgets is promised to children, by session."""


def promises(claims: Iterable[tuple[Amount, Sequence[Budget]]]) -> Promised:
    """What is promised: `claims` has what open budgets may still use, and the bounds above them, the nearest first."""
    promised: dict[int, Amount] = defaultdict(Amount)
    for claim, above in claims:
        for bound in _up_to_open(above, "tokens"):
            promised[bound.session_id] += Amount(tokens=claim.tokens)
        for bound in _up_to_open(above, "cost_usd"):
            promised[bound.session_id] += Amount(cost_usd=claim.cost_usd)
    return promised


def refusal(asked: Limit, bounds: Sequence[Budget], promised: Promised) -> str | None:
    """Why the bounds, the nearest first, leave no room for a child; None where they do.

    What a child is promised comes out of the nearest open bound, and with it out of what those above have promised that
    one: they need only have the amount itself.
    """
    for unit in UNITS:
        wanted: float | None = getattr(asked, unit)
        taken_from = {bound.session_id for bound in _up_to_open(bounds, unit)}
        for bound in bounds:
            left = _left(bound, unit)
            if left is None:
                continue
            kept = promised.get(bound.session_id, Amount()) if bound.session_id in taken_from else Amount()
            room = left - float(getattr(kept, unit))
            if room <= _NOTHING or (wanted is not None and wanted > room + _NOTHING):
                asking = "" if wanted is None else f", {_say(unit, wanted)} requested"
                return f"{_describe(bound, unit, kept)}{asking}"
    return None


def used_up(bounds: Iterable[Budget]) -> tuple[Budget, str] | None:
    """The first bound of which nothing is left, and how that is said."""
    for bound in bounds:
        for unit in UNITS:
            left = _left(bound, unit)
            if left is not None and left <= _NOTHING:
                return bound, _describe(bound, unit, Amount())
    return None


def _up_to_open(bounds: Sequence[Budget], unit: Unit) -> Iterable[Budget]:
    """The bounds that a promise is taken from: those that are settled, up to the first that is open."""
    for bound in bounds:
        if getattr(bound.limit, unit) is not None:
            yield bound
            if not bound.is_settled:
                return


def _left(bound: Budget, unit: Unit) -> float | None:
    limit: float | None = getattr(bound.limit, unit)
    return None if limit is None else limit - float(getattr(bound.spent, unit))


def _describe(bound: Budget, unit: Unit, promised: Amount) -> str:
    limit, used, kept = (getattr(each, unit) for each in (bound.limit, bound.spent, promised))
    promise = f", {_say(unit, kept)} reserved for children" if kept else ""
    return (
        f"session {bound.session_id} and its descendants have used {_say(unit, used)} of {_say(unit, limit)}{promise}"
    )


def _say(unit: Unit, amount: float) -> str:
    return f"{amount:,.0f} tokens" if unit == "tokens" else f"${amount:,.4f}"


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
    spent, limit = _say_use(use, use.spent), _say_use(use, use.limit)
    return f"the {day}{whose} is used up: {mark}{spent} of {limit} ({use.key})"


def _say_use(use: BudgetUse, amount: float) -> str:
    return f"{amount:,.0f} tokens" if use.unit == "tokens" else f"${amount:,.2f}"
