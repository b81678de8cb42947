"""Spending: what a transcript, and before it a status line, says that its session used, each of it counted once.

A session may be a copy of another one, whose lines it repeats and whose cost it goes on with. What the original has
used is not used again.
"""

from ramet.engine.record import budgets
from ramet.engine.transaction import Transaction
from ramet.model.hooks.transcript import MESSAGE_USAGE, RUNNING_COST, Entry
from ramet.model.names import clean_name
from ramet.model.record.budget import Amount
from ramet.model.work.stream import Usage
from ramet.store.record import usage

_STATUS_LINE = "status line"
"""The key under which a status line's cost is kept: of the whole session, so each replaces the one before."""


def put(tx: Transaction, session_id: int, entry: Entry) -> list[Amount]:
    """What an entry says, and by how much more that is than was known."""
    used = _read(entry)
    if used.key.startswith(MESSAGE_USAGE) and usage.is_of_another(tx.db, session_id, used.key):
        return []
    more = []
    if used.key.startswith(RUNNING_COST):
        more = [*_take_off(tx, session_id, used), *_forget_status_line(tx, session_id)]
    return [*more, usage.put(tx.db, session_id, used)]


def put_status_line(tx: Transaction, session_id: int, cost_usd: float) -> None:
    """What a status line says that the session has cost, until the transcript tells."""
    if usage.has_cost(tx.db, session_id, RUNNING_COST):
        return
    more = usage.put(tx.db, session_id, Usage(key=_STATUS_LINE, cost_usd=cost_usd))
    if more.cost_usd:
        budgets.check_usage(tx, session_id, more)
        tx.record("session.usage", session_id=session_id, data={"cost_usd": cost_usd})


def _read(entry: Entry) -> Usage:
    said = {name: value for name, value in (entry.usage or {}).items() if name in Usage.__struct_fields__}
    tokens = {name: int(value) for name, value in said.items() if name.endswith("_tokens")}
    model = None if entry.model is None else clean_name(entry.model)
    return Usage(key=clean_name(entry.key), model=model, cost_usd=said.get("cost_usd"), **tokens)


def _take_off(tx: Transaction, session_id: int, used: Usage) -> list[Amount]:
    """The cost of the original up to where the copy was made: what it had when the copy first told of its own."""
    if usage.has_cost(tx.db, session_id, used.key):
        return []
    before = min(usage.find_cost_before(tx.db, session_id, used.key), used.cost_usd or 0.0)
    return [usage.put(tx.db, session_id, Usage(key=f"before {used.key}", cost_usd=-before))] if before else []


def _forget_status_line(tx: Transaction, session_id: int) -> list[Amount]:
    """The file has the cost, of which a status line could only tell so far."""
    if not usage.has_cost(tx.db, session_id, _STATUS_LINE):
        return []
    return [usage.put(tx.db, session_id, Usage(key=_STATUS_LINE))]
