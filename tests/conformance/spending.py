"""What tests of budgets have in common: agents that use tokens and money, and what is counted of it."""

from typing import Any

from tests.conformance import family
from tests.world import World


def use(world: World, attempt: Any, tokens: int, key: str = "call 1", cost_usd: float | None = None) -> Any:
    """A call of an attempt's model, as its keeper reports it: what the keeper hears."""
    ((seq,),) = world.sql("SELECT reported_seq FROM sessions WHERE id = :id", id=attempt.session.id)
    used = {"kind": "usage", "key": key, "input_tokens": tokens, "cost_usd": cost_usd}
    return world.call(
        "work.report",
        session_id=attempt.session.id,
        instance=attempt.session.instance,
        seq=seq + 1,
        events=[used],
    )


def limit(world: World, of: Any, **limits: Any) -> Any:
    return world.call("budget.set", session_id=family.session_of(of), **limits)


def budget(world: World, of: Any) -> Any:
    return world.call("budget.get", session_id=family.session_of(of))


def tokens(state: Any) -> tuple[int | None, int, int]:
    """What may be used, what has been, and what is promised."""
    return state.tokens, state.spent_tokens, state.reserved_tokens
