"""What an agent sees of its budget: every limit that applies to it, with what is left."""

from collections.abc import Iterable, Iterator
from typing import Any

from ramet.model.record.budget import BudgetUse
from ramet.model.spawn.child import BudgetState
from ramet.protocol.record.budgets import BudgetReply

_CHILDREN = 100
"""How many children an answer names, the newest: by default, a tree has no more."""


def describe_budget(reply: BudgetReply, days: Iterable[BudgetUse]) -> dict[str, Any]:
    """The limits of the session, of those above it, of the day and of the project. A cost is null if it is unknown."""
    states = [state for state in (reply.own, *reply.above) if state is not None]
    return {
        "budgets": [
            *(limit for state in states for limit in _limits(state)),
            *(_day(use) for use in days),
        ],
        "used": {
            "tokens": reply.tokens,
            "costUsd": reply.cost_usd,
            **({"isEstimated": True} if reply.is_cost_estimated else {}),
        },
        "children": [
            {
                "childSessionId": child.session_id,
                "outcome": child.outcome,
                "tokens": child.tokens,
                "costUsd": child.cost_usd,
            }
            for child in reply.children[-_CHILDREN:]
        ],
        **({"olderChildren": older} if (older := len(reply.children) - _CHILDREN) > 0 else {}),
    }


def _limits(state: BudgetState) -> Iterator[dict[str, Any]]:
    of = f"session {state.session_id}"
    if state.tokens is not None:
        left = max(0, state.tokens - state.spent_tokens - state.reserved_tokens)
        yield {"of": of, "unit": "tokens", "limit": state.tokens, "left": left}
    if state.cost_usd is not None:
        spent = state.spent_cost_usd
        left_usd = None if spent is None else max(0.0, state.cost_usd - spent - state.reserved_cost_usd)
        yield {"of": of, "unit": "usd", "limit": state.cost_usd, "left": left_usd}


def _day(use: BudgetUse) -> dict[str, Any]:
    whose = "all projects" if use.project_id is None else "this project"
    left = max(0, use.limit - use.spent)
    return {
        "of": whose if use.resets_at is None else f"{whose} today",
        "unit": "usd" if use.unit == "cost_usd" else "tokens",
        "limit": use.limit,
        "left": left,
    }
