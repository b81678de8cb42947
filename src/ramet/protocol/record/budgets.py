"""Requests and replies about budgets."""

from typing import Annotated

from msgspec import Meta, Struct, field

from ramet.errors import Forbidden, InvalidParams, SessionNotFound, UnmeasurableBound
from ramet.model.record.effort import Outcome
from ramet.model.spawn.child import BudgetState
from ramet.protocol.fields import SessionId
from ramet.protocol.operation import Change, Operation, Request

TokenLimit = Annotated[int, Meta(ge=1, le=2**53)]

Cost = Annotated[float, Meta(gt=0, le=1e12)]


class ChildUse(Struct, frozen=True, kw_only=True):
    """What a child and its descendants used."""

    session_id: int
    effort_id: int
    outcome: Outcome | None
    """None while it has not ended."""
    tokens: int
    cost_usd: float | None
    """None if it is unknown."""
    is_cost_estimated: bool = False


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
    children: list[ChildUse] = field(default_factory=list)
    """What each child used, the newest first, at most 100; empty in the reply of `budget.set`."""


class GetBudget(Request[BudgetReply], frozen=True, kw_only=True):
    """Show the budget of a session and its descendants: the limits, the usage and the reservations."""

    op = Operation("budget.get", errors=(SessionNotFound, Forbidden, InvalidParams), ring="own", is_long=True)

    session_id: SessionId | None = None
    """The session (default: the session of the connection's token)."""


class SetBudget(Change[BudgetReply], frozen=True, kw_only=True):
    """Set the token and cost limits of a session and its descendants; null removes a limit."""

    op = Operation("budget.set", errors=(SessionNotFound, UnmeasurableBound), locks_rows=True)

    session_id: SessionId
    tokens: TokenLimit | None = None
    cost_usd: Cost | None = None
