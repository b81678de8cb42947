"""Requests and replies about budgets."""

from typing import Annotated

from msgspec import Meta, Struct, field

from ramet.errors import Forbidden, SessionNotFound
from ramet.model.spawn.child import BudgetState
from ramet.protocol.fields import SessionId
from ramet.protocol.operation import Change, Operation, Request

TokenLimit = Annotated[int, Meta(ge=1, le=2**53)]

Cost = Annotated[float, Meta(gt=0, le=1e12)]


class BudgetReply(Struct, frozen=True, kw_only=True):
    """A session's own budget, if it has one, and the budgets of its ancestors, which also apply."""

    session_id: int
    root_session_id: int
    project_id: int
    own: BudgetState | None
    above: list[BudgetState] = field(default_factory=list)
    tokens: int
    """Tokens used by the session and its descendants."""
    cost_usd: float | None
    """Their cost; None if it is unknown."""
    is_cost_estimated: bool = False
    """Whether a part of the cost is estimated from the price table."""


class GetBudget(Request[BudgetReply], frozen=True, kw_only=True):
    """Show the budget of a session and its descendants: the limits, the usage and the reservations."""

    op = Operation("budget.get", errors=(SessionNotFound, Forbidden), ring="own")

    session_id: SessionId


class SetBudget(Change[BudgetReply], frozen=True, kw_only=True):
    """Set the token and cost limits of a session and its descendants; null removes a limit."""

    op = Operation("budget.set", errors=(SessionNotFound,), locks_rows=True)

    session_id: SessionId
    tokens: TokenLimit | None = None
    cost_usd: Cost | None = None
