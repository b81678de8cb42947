"""Budgets: what a session and all below it may use. Reserved before a child is there, counted with each call, settled
when the child is over.

A child is refused where there is no room for it. What runs is asked to end with the first call that reaches a bound, so
that a bound is exceeded by no more than the one call that each running agent has in flight.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from ramet.engine.answers import answers
from ramet.engine.record import lookup
from ramet.engine.system import notices
from ramet.engine.transaction import Transaction
from ramet.errors import BudgetExceeded, InvalidParams, UnmeasurableBound
from ramet.model.record.budget import (
    Amount,
    Budget,
    Limit,
    Promised,
    limit_of,
    promises,
    refusal,
    used_up,
)
from ramet.model.record.effort import StopRequest
from ramet.model.record.session import Session
from ramet.model.spawn.child import BudgetState
from ramet.protocol.record.budgets import BudgetReply, ChildUse, GetBudget, SetBudget
from ramet.protocol.spawn.children import ChildLimits
from ramet.store.record import budgets, efforts, sessions
from ramet.store.work import queue

_MOST_CHILDREN = 100


@answers(GetBudget)
def get(tx: Transaction, request: GetBudget) -> BudgetReply:
    """What binds a session, and what it has used."""
    ref = tx.asker if request.session_id is None else request.session_id
    if ref is None:
        raise InvalidParams("session_id is missing", field="session_id", fix="name the session, such as 7")
    session = lookup.session(tx, ref)
    children = budgets.list_children(tx.db, session.id, _MOST_CHILDREN)
    return replace(_reply(tx, session), children=[_child(each) for each in children])


@answers(SetBudget)
def set_limit(tx: Transaction, request: SetBudget) -> BudgetReply:
    """Bound a session and all below it, or let go of a bound. What they have used before counts."""
    session = lookup.session(tx, request.session_id)
    if request.cost_usd is not None:
        _require_cost(tx, session, request.cost_usd)
    _put(tx, session, Limit(tokens=request.tokens, cost_usd=request.cost_usd))
    data = {"tokens": request.tokens, "cost_usd": request.cost_usd}
    tx.record("budget.set", task_id=session.task_id, effort_id=session.effort_id, session_id=session.id, data=data)
    return _reply(tx, session)


def _require_cost(tx: Transaction, session: Session, limit_usd: float) -> None:
    """Refuse a limit in dollars for a session that has used tokens of which nobody knows the cost."""
    used = budgets.sum_below(tx.db, session.id)
    if used.tokens > 0 and used.cost_usd is None:
        model = "its model" if session.model is None else f"its model {session.model}"
        raise UnmeasurableBound(
            f"the cost of session {session.id} is unknown: its program reports none, and {model} has no price",
            field="cost_usd",
            value=limit_usd,
        )


def require_room(tx: Transaction, parent: Session, limits: ChildLimits) -> None:
    """Refuse a child for which a bound above it has no room. Nothing of the child need be there yet."""
    _count_default(tx, parent)
    bounds = _bounds(tx, parent)
    refused = refusal(_limit(limits), bounds, _promised(tx, parent)) if bounds else None
    if refused is not None:
        raise BudgetExceeded(refused, field="limits", value=parent.id)


def reserve(tx: Transaction, session_id: int, limits: ChildLimits) -> None:
    """Keep for a new child what it may use: nobody else is promised it until the child is over."""
    limit = _limit(limits)
    if limit:
        budgets.put(tx.db, session_id, limit, Amount())


def settle(tx: Transaction, session_id: int) -> None:
    """A child's effort is over: what its sessions have not used is free again. A second time changes nothing."""
    budgets.settle(tx.db, session_id, tx.now)


def begin(tx: Transaction, session: Session) -> StopRequest | None:
    """An attempt begins: its budget holds again, and it is asked to end at once where nothing is left of a bound."""
    _count_default(tx, session)
    _bind(tx, session)
    if not budgets.is_bounded(tx.db, session.id):
        return None
    budgets.reopen(tx.db, session.effort_id)
    return _require_rest(tx, session.effort_id, _bounds(tx, session))


def _bind(tx: Transaction, session: Session) -> None:
    """The limit that the effort was queued with holds for its first session, and so for all that continue it. A person
    may have set another one since.
    """
    limit = limit_of(lookup.effort(tx, session.effort_id).metadata)
    if not limit:
        return
    above = budgets.list_above(tx.db, [session.id])[session.id]
    if not any(lookup.session(tx, bound.session_id).effort_id == session.effort_id for bound in above):
        _put(tx, session, limit)


def check_usage(tx: Transaction, session_id: int, used: Amount) -> StopRequest | None:
    """Count what a session has used, and ask its agent to end where that reaches a bound. Trees without any cost one
    look.
    """
    if not budgets.is_bounded(tx.db, session_id):
        return None
    session = lookup.session(tx, session_id)
    above = [bound.session_id for bound in budgets.list_above(tx.db, [session_id])[session_id]]
    bounds = budgets.add_spent(tx.db, above, used)
    return _require_rest(tx, session.effort_id, _effective(tx, session.root_session_id, bounds))


def follow(tx: Transaction, session: Session, prev: Session) -> None:
    """A root session goes on behind another one, with all below it: what they have used counts in that one's bounds,
    and what binds them goes with them. The move writes every session of the tree, so nobody reports on one meanwhile.
    """
    _count_default(tx, prev)
    sessions.follow(tx.db, session.id, prev)
    budgets.move_tree(tx.db, session.id, prev.root_session_id)
    above = [bound.session_id for bound in budgets.list_above(tx.db, [prev.id])[prev.id]]
    budgets.add_spent(tx.db, above, budgets.sum_below(tx.db, session.id).amount)


def _require_rest(tx: Transaction, effort_id: int, bounds: Sequence[Budget]) -> StopRequest | None:
    """Ask whoever runs an effort to end it, where nothing is left of a bound."""
    found = used_up(bounds)
    if found is None:
        return None
    bound, said = found
    effort = lookup.effort(tx, effort_id)
    if effort.stop_request is not None or effort.lease.owner is None:
        return effort.stop_request
    stop = StopRequest(outcome="budget", reason=f"the budget is used up: {said}")
    queue.request_stop(tx.db, effort.id, stop)
    data = {"reason": stop.reason, "outcome": stop.outcome}
    tx.record("effort.stop_requested", task_id=effort.task_id, effort_id=effort.id, data=data)
    key = f"budget/{bound.session_id}/{bound.limit.tokens}/{bound.limit.cost_usd}"
    notices.add(tx, "budget", effort, f"effort {effort.id} has used up its budget: {said}", key=key)
    return stop


def _put(tx: Transaction, session: Session, limit: Limit) -> None:
    """Bound a session of which others may be reporting at this moment."""
    budgets.hold_tree(tx.db, session.root_session_id)
    budgets.put(tx.db, session.id, limit, budgets.sum_below(tx.db, session.id).amount)


def _count_default(tx: Transaction, session: Session) -> None:
    """Where the configuration bounds every tree, let what this one uses be counted at its root."""
    if _default(tx) and not budgets.is_counted(tx.db, session.root_session_id):
        _put(tx, lookup.session(tx, session.root_session_id), Limit())


def _default(tx: Transaction) -> Limit:
    return Limit(tokens=tx.spawn.tokens or None, cost_usd=tx.spawn.cost_usd or None)


def _bounds(tx: Transaction, session: Session) -> list[Budget]:
    """What binds a session, the nearest first."""
    return _effective(tx, session.root_session_id, budgets.list_above(tx.db, [session.id])[session.id])


def _effective(tx: Transaction, root_session_id: int, bounds: Iterable[Budget]) -> list[Budget]:
    """Those that bound anything: a root without a limit of its own has that of the configuration."""
    default = _default(tx)
    known = (
        replace(bound, limit=default) if bound.session_id == root_session_id and not bound.limit else bound
        for bound in bounds
    )
    return [bound for bound in known if bound.limit]


def _promised(tx: Transaction, session: Session) -> Promised:
    """What is promised in the tree of a session."""
    root = session.root_session_id
    claims = budgets.sum_promised(tx.db, root)
    above = budgets.list_above(tx.db, claims)
    return promises((claims[each], _effective(tx, root, bounds)) for each, bounds in above.items())


def _limit(limits: ChildLimits) -> Limit:
    return Limit(tokens=limits.tokens, cost_usd=limits.cost_usd)


def _reply(tx: Transaction, session: Session) -> BudgetReply:
    """Without the children, whose sums take long in a large tree: nobody waits for them while a limit is written."""
    promised = _promised(tx, session)
    states = [_state(tx, bound, promised.get(bound.session_id, Amount())) for bound in _bounds(tx, session)]
    used = budgets.sum_below(tx.db, session.id)
    return BudgetReply(
        session_id=session.id,
        root_session_id=session.root_session_id,
        project_id=efforts.project_of(tx.db, session.effort_id),
        own=next((state for state in states if state.session_id == session.id), None),
        above=[state for state in states if state.session_id != session.id],
        tokens=used.tokens,
        cost_usd=used.cost_usd,
        is_cost_estimated=used.is_cost_estimated,
    )


def _child(child: budgets.Child) -> ChildUse:
    return ChildUse(
        session_id=child.session_id,
        effort_id=child.effort_id,
        outcome=child.outcome,
        tokens=child.used.tokens,
        cost_usd=child.used.cost_usd,
        is_cost_estimated=child.used.is_cost_estimated,
    )


def _state(tx: Transaction, bound: Budget, promised: Amount) -> BudgetState:
    used = budgets.sum_below(tx.db, bound.session_id)
    is_unknown = used.cost_usd is None and bound.spent.tokens > 0
    return BudgetState(
        session_id=bound.session_id,
        tokens=bound.limit.tokens,
        cost_usd=bound.limit.cost_usd,
        spent_tokens=bound.spent.tokens,
        spent_cost_usd=None if is_unknown else bound.spent.cost_usd,
        reserved_tokens=promised.tokens,
        reserved_cost_usd=promised.cost_usd,
        is_cost_estimated=used.is_cost_estimated,
    )
