"""The plain book of a tree's budgets: dictionaries, and each amount summed up anew whenever somebody asks."""

from collections.abc import Iterator
from dataclasses import dataclass, field

UNITS = ("tokens", "cost_usd")

Amount = dict[str, float | None]
"""What a call used; None if its cost is unknown."""


@dataclass
class PlainSession:
    id: int
    effort_id: int
    depth: int
    above: int | None
    """Its parent; of a second attempt, the first."""
    calls: dict[str, Amount] = field(default_factory=dict)


@dataclass
class PlainBudget:
    limit: dict[str, float | None]
    is_settled: bool = False


@dataclass
class PlainBook:
    sessions: dict[int, PlainSession] = field(default_factory=dict)
    budgets: dict[int, PlainBudget] = field(default_factory=dict)

    def up(self, session_id: int | None) -> Iterator[int]:
        while session_id is not None:
            yield session_id
            session_id = self.sessions[session_id].above

    def bounds(self, session_id: int | None, unit: str) -> list[int]:
        """What binds a session, the nearest first."""
        return [each for each in self.up(session_id) if each in self.budgets and self.limit(each, unit) is not None]

    def limit(self, session_id: int, unit: str) -> float | None:
        return self.budgets[session_id].limit[unit]

    def spent(self, session_id: int, unit: str) -> float:
        below = [each for each in self.sessions.values() if session_id in self.up(each.id)]
        return sum(call[unit] or 0 for each in below for call in each.calls.values())

    def known_cost(self, session_id: int) -> float | None:
        """None if nothing below has told a cost: nothing told is not nothing spent."""
        below = [each for each in self.sessions.values() if session_id in self.up(each.id)]
        costs = [call["cost_usd"] for each in below for call in each.calls.values()]
        told = [cost for cost in costs if cost is not None]
        return sum(told) if told else None

    def left(self, session_id: int, unit: str) -> float:
        limit = self.limit(session_id, unit)
        assert limit is not None
        return limit - self.spent(session_id, unit)

    def reserved(self, session_id: int, unit: str) -> float:
        """What the open budgets below may still use, but for those that are inside another open one."""
        total = 0.0
        for each, budget in self.budgets.items():
            above = self.bounds(self.sessions[each].above, unit)
            if budget.is_settled or budget.limit[unit] is None or session_id not in above:
                continue
            between = above[: above.index(session_id)]
            if all(self.budgets[other].is_settled for other in between):
                total += max(self.left(each, unit), 0)
        return total

    def has_room(self, parent: int, asked: dict[str, float | None]) -> bool:
        for unit in UNITS:
            is_covered = False
            for bound in self.bounds(parent, unit):
                room = self.left(bound, unit) - (0 if is_covered else self.reserved(bound, unit))
                if room <= 0 or (asked[unit] or 0) > room:
                    return False
                is_covered = is_covered or not self.budgets[bound].is_settled
        return True

    def is_used_up(self, session_id: int) -> bool:
        return any(self.left(bound, unit) <= 0 for unit in UNITS for bound in self.bounds(session_id, unit))
