"""Spending: what a session says that it used, each call once, and what that cost.

A program may say a cost; where it does not, the tokens are priced by the table (`model.work.price`), call by call, and
that is an estimate. A cost that is of a whole session takes the place of its estimates. It has its sub-agents' calls in
it, which are sessions of their own here: what these would cost is taken off.

A session may be a copy of another one, whose lines it repeats and whose cost it goes on with. What the original has
used is not used again.
"""

from ramet.engine.record import budgets, sessions
from ramet.engine.transaction import Transaction
from ramet.model.hooks.transcript import MESSAGE_USAGE, RUNNING_COST, Entry
from ramet.model.instant import from_datetime, to_iso
from ramet.model.names import clean_name
from ramet.model.record.budget import Amount
from ramet.model.work import price
from ramet.model.work.stream import Usage
from ramet.store.record import sessions as session_rows
from ramet.store.record import usage, usage_times
from ramet.store.record.usage import Said, Whole

_STATUS_LINE = "status line"
"""The key under which a status line's cost is kept: of the whole session, so each replaces the one before."""
_BELOW = "sub-agents"
"""The key under which the estimates of sub-agents are taken off a cost that has them in it."""


def count(tx: Transaction, session_id: int, used: Usage, at_ms: int | None = None) -> Amount:
    """What a session used, under its key, instead of what it had said before; by how much more that is.

    `at_ms` is when it was used, if that was not now: a file that is read later knows it.
    """
    used, at_ms = usage.bounded(used), tx.now_ms if at_ms is None else at_ms
    before = usage.find(tx.db, session_id, used.key)
    said = Said(used, _estimate(tx, session_id, used, before, to_iso(at_ms)[:10]))
    if before != said:
        usage.put(tx.db, session_id, said, before, at_ms)
    known = Amount() if before is None else before.amount
    return Amount(tokens=said.amount.tokens - known.tokens, cost_usd=said.amount.cost_usd - known.cost_usd)


def count_injected(tx: Transaction, session_id: int, tokens: int) -> None:
    """Count the tokens of a text that Ramet puts into a session's prompt. The model counts them as input, too, so they
    are shown beside what was used and not added to it.
    """
    if tokens > 0:
        usage_times.count_injected(tx.db, session_id, tokens, tx.now_ms)


def _estimate(tx: Transaction, session_id: int, used: Usage, before: Said | None, day: str) -> float | None:
    """What it would cost, where no cost is said. Each call at the price of its own model and context: what was known
    before keeps its estimate, and only what is new is priced.
    """
    if used.cost_usd is not None or usage.has_cost(tx.db, session_id, _STATUS_LINE):
        return None
    if before is not None and before.estimated_usd is not None:
        more = price.since(used, before.used)
        added = None if more is None else tx.prices.estimate(more, day)
        if added is not None:
            return before.estimated_usd + added
    return tx.prices.estimate(used, day)


def observe(tx: Transaction, session_id: int, used: Usage) -> None:
    """Note the model of a session's newest call, and how full its context was; a status line knows that better."""
    fill = None if usage.has_cost(tx.db, session_id, _STATUS_LINE) else tx.prices.fill(used)
    if used.model is not None or fill is not None:
        session_rows.observe(tx.db, session_id, used.model, fill)


def put(tx: Transaction, session_id: int, entry: Entry, model: str | None = None) -> list[Amount]:
    """What an entry says, and by how much more that is than was known; `model` if the entry names none."""
    used, at_ms = _read(entry, model), _time_of(tx, entry)
    if used.key.startswith(MESSAGE_USAGE):
        other = usage.find_other(tx.db, session_id, used.key)
        if other is not None:
            # The same message of the same model: this session is a copy, and has not paid for it.
            sessions.note_origin(tx, session_id, other)
            return []
        said = usage.find(tx.db, session_id, used.key)
        if said is not None and said.used.output_tokens > used.output_tokens:
            return []  # a line from before the message was whole, read again
    observe(tx, session_id, used)
    if not used.key.startswith(RUNNING_COST):
        return [count(tx, session_id, used, at_ms)]
    before, whole = _take_off(tx, session_id, used, at_ms), _find_whole(tx, session_id)
    if whole.status_usd:  # which could only tell so far
        before.append(count(tx, session_id, Usage(key=_STATUS_LINE), at_ms))
    return [*before, count(tx, session_id, used, at_ms), *_replace_estimates(tx, session_id, whole, at_ms)]


def _time_of(tx: Transaction, entry: Entry) -> int:
    """When it was used. What a file dates later than now was at the latest now."""
    if entry.at is None or entry.at.tzinfo is None:
        return tx.now_ms
    return max(0, min(from_datetime(entry.at), tx.now_ms))


def put_status_line(tx: Transaction, session_id: int, cost_usd: float) -> None:
    """What a status line says that the session has cost, until the transcript tells."""
    whole = _find_whole(tx, session_id)
    if whole.has_running or whole.status_usd == cost_usd:
        return
    before = None if whole.status_usd is None else Said(Usage(key=_STATUS_LINE, cost_usd=whole.status_usd))
    usage.put(tx.db, session_id, Said(Usage(key=_STATUS_LINE, cost_usd=cost_usd)), before, tx.now_ms)
    more = [Amount(cost_usd=cost_usd - (whole.status_usd or 0.0)), *_replace_estimates(tx, session_id, whole)]
    budgets.check_usage(tx, session_id, sum(more, Amount()))
    tx.record("session.usage", session_id=session_id, data={"cost_usd": cost_usd})


def settle_above(tx: Transaction, parent_id: int) -> None:
    """A sub-agent has used something. If the cost of its parent is known, that is in it already."""
    whole = _find_whole(tx, parent_id)
    if whole.has_running or whole.status_usd:
        budgets.check_usage(tx, parent_id, sum(_take_off_below(tx, parent_id, whole), Amount()))


def _find_whole(tx: Transaction, session_id: int) -> Whole:
    return usage.find_whole(tx.db, session_id, running=RUNNING_COST, status_line=_STATUS_LINE, below=_BELOW)


def _replace_estimates(tx: Transaction, session_id: int, whole: Whole, at_ms: int | None = None) -> list[Amount]:
    """A cost of the whole session is known, so its calls need no estimates."""
    if whole.estimated_usd:
        usage.forget_estimates(tx.db, session_id)
    return [Amount(cost_usd=-whole.estimated_usd), *_take_off_below(tx, session_id, whole, at_ms)]


def _take_off_below(tx: Transaction, session_id: int, whole: Whole, at_ms: int | None = None) -> list[Amount]:
    if -whole.below_usd == whole.taken_off_usd:
        return []
    return [count(tx, session_id, Usage(key=_BELOW, cost_usd=-whole.below_usd), at_ms)]


def _read(entry: Entry, model: str | None) -> Usage:
    said = {name: value for name, value in (entry.usage or {}).items() if name in Usage.__struct_fields__}
    tokens = {name: int(value) for name, value in said.items() if name.endswith("_tokens")}
    named = None if entry.model is None else clean_name(entry.model)
    return Usage(key=clean_name(entry.key), model=named or model, cost_usd=said.get("cost_usd"), **tokens)


def _take_off(tx: Transaction, session_id: int, used: Usage, at_ms: int) -> list[Amount]:
    """The cost of the original up to where the copy was made: what it had when the copy first told of its own."""
    if usage.has_cost(tx.db, session_id, used.key):
        return []
    before = min(usage.find_cost_before(tx.db, session_id, used.key), used.cost_usd or 0.0)
    return [count(tx, session_id, Usage(key=f"before {used.key}", cost_usd=-before), at_ms)] if before else []
