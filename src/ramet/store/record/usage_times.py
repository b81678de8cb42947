"""When sessions used what they used: sums for each quarter of an hour, from which days and periods are summed up.

`usage` has what a session says under its keys, and a key may be a sum that grows for days. Each change of it is added
here at its own time, so the two agree on every session (`db.check` compares them).
"""

from msgspec import Struct

from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile

_sql = QueryFile("record/usage_times")

QUARTER_MS = 900_000
"""A quarter of an hour: every time zone begins its days at one."""


class Added(Struct, frozen=True, kw_only=True):
    """What a session used more than it had said before; less is negative."""

    model: str | None = None
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    injected_tokens: int = 0
    cost_usd: float | None = None
    estimated_usd: float | None = None


def add(db: Connection, session_id: int, added: Added, at_ms: int) -> None:
    """Add what a session used at a time."""
    amounts = {name: getattr(added, name) for name in Added.__struct_fields__ if name != "model"}
    quarter = at_ms // QUARTER_MS * QUARTER_MS
    db.run(_sql.add, session_id=session_id, at_ms=quarter, model=added.model or "", **amounts)


def count_injected(db: Connection, session_id: int, tokens: int, at_ms: int) -> None:
    """Count the tokens of a text that Ramet put into a session's prompt. They are among its input tokens, too."""
    add(db, session_id, Added(injected_tokens=max(0, tokens)), at_ms)


def forget_estimates(db: Connection, session_id: int) -> None:
    """The cost of a session is known: its calls need no estimates."""
    db.run(_sql.forget_estimates, session_id=session_id)


class Spent(Struct, frozen=True):
    """What was used since a time."""

    tokens: float
    cost_usd: float
    is_cost_estimated: bool


def sum_since(db: Connection, since_ms: int, project_id: int | None) -> Spent:
    """What a project used since a time; None: all projects together."""
    query = _sql.since_in_all if project_id is None else _sql.since_in_project
    given = {} if project_id is None else {"project_id": project_id}
    tokens, cost_usd, estimated_usd = db.must(query, since_ms=since_ms // QUARTER_MS * QUARTER_MS, **given)
    return Spent(tokens, cost_usd, abs(estimated_usd) > _VISIBLE_USD)


_VISIBLE_USD = 1e-9
"""Estimates that were replaced by costs leave the rounding of their sums."""
