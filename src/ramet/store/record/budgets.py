"""What is remembered of budgets: how much may be used, and how much has been."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from ramet.model.record.budget import Amount, Budget, Limit
from ramet.model.record.effort import Outcome
from ramet.store.database.connection import Connection, to_json
from ramet.store.database.queries import QueryFile

_sql = QueryFile("record/budgets")


def is_bounded(db: Connection, session_id: int) -> bool:
    """Whether anything in the tree of a session is bounded."""
    return bool(db.must(_sql.is_bounded, session_id=session_id)[0])


def is_counted(db: Connection, session_id: int) -> bool:
    """Whether what a session uses is counted for itself."""
    return db.one(_sql.is_counted, session_id=session_id) is not None


def sum_promised(db: Connection, root_session_id: int) -> dict[int, Amount]:
    """What the open budgets of a tree may still use, by the session that each stands below."""
    rows = db.all(_sql.promised, root_session_id=root_session_id)
    return {above: Amount(tokens=tokens, cost_usd=cost_usd) for above, tokens, cost_usd in rows}


def list_above(db: Connection, session_ids: Iterable[int]) -> dict[int, list[Budget]]:
    """For each session the budgets that bind it, the nearest first."""
    above: dict[int, list[Budget]] = {session_id: [] for session_id in session_ids}
    for seed, *budget in db.all(_sql.above, ids=to_json(list(above))):
        above[seed].append(_budget(budget))
    return above


def add_spent(db: Connection, session_ids: Iterable[int], used: Amount) -> list[Budget]:
    """Count what was used in the budgets of some sessions; what they are then, the nearest first."""
    rows = db.all(_sql.add_spent, ids=to_json(list(session_ids)), tokens=used.tokens, cost_usd=used.cost_usd)
    return sorted((_budget(row) for row in rows), key=lambda budget: -budget.session_id)


def hold_tree(db: Connection, root_session_id: int) -> None:
    """Let nobody report on a tree until this transaction ends."""
    db.run(_sql.hold_tree, root_session_id=root_session_id)


class Used(Struct, frozen=True):
    """What a session, what continues it and all below have used."""

    tokens: int
    cost_usd: float | None
    """None if no cost is known."""
    is_cost_estimated: bool

    @property
    def amount(self) -> Amount:
        return Amount(tokens=self.tokens, cost_usd=self.cost_usd or 0.0)


def sum_below(db: Connection, session_id: int) -> Used:
    """What a session, what continues it and all below have used."""
    tokens, cost_usd, is_estimated = db.must(_sql.sum_below, session_id=session_id)
    return Used(tokens, cost_usd, bool(is_estimated))


class Child(Struct, frozen=True):
    """A child, and what it and all below it have used."""

    session_id: int
    effort_id: int
    outcome: Outcome | None
    used: Used


def list_children(db: Connection, session_id: int, most: int) -> list[Child]:
    """The newest children of a session, and what each has used."""
    rows = db.all(_sql.children, session_id=session_id, most=most)
    return [Child(child, effort_id, outcome, sum_below(db, child)) for child, effort_id, outcome in rows]


def put(db: Connection, session_id: int, limit: Limit, spent: Amount) -> None:
    """Bound what a session and all below it may use."""
    db.run(
        _sql.put,
        session_id=session_id,
        tokens=limit.tokens,
        cost_usd=limit.cost_usd,
        spent_tokens=spent.tokens,
        spent_cost_usd=spent.cost_usd,
    )


def settle(db: Connection, session_id: int, now: str) -> None:
    """What the sessions of a session's effort have not used of their budgets is free again."""
    db.run(_sql.settle, session_id=session_id, now=now)


def reopen(db: Connection, effort_id: int) -> None:
    """The budgets of an effort that is taken up again hold again."""
    db.run(_sql.reopen, effort_id=effort_id)


def move_tree(db: Connection, session_id: int, root_session_id: int) -> None:
    """The budgets of a root and of all below it are those of another tree from now on."""
    db.run(_sql.move_tree, session_id=session_id, root_session_id=root_session_id)


def _budget(row: Sequence[Any]) -> Budget:
    session_id, tokens, cost_usd, spent_tokens, spent_cost_usd, is_settled = row
    return Budget(
        session_id=session_id,
        limit=Limit(tokens=tokens, cost_usd=cost_usd),
        spent=Amount(tokens=spent_tokens, cost_usd=spent_cost_usd),
        is_settled=bool(is_settled),
    )
