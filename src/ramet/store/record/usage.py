"""What is remembered of what agents used."""

from typing import Any

from ramet.model.record.budget import Amount
from ramet.model.work.stream import Usage
from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile

_sql = QueryFile("record/usage")

_MOST = 2**53
"""More than anybody uses, and what every database and JSON reader can hold."""


def put(db: Connection, session_id: int, usage: Usage) -> Amount:
    """What a session used, under its key; how much more that is than it had said under the same key before."""
    tokens = {
        "input_tokens": _bounded(usage.input_tokens),
        "output_tokens": _bounded(usage.output_tokens),
        "cache_read_tokens": _bounded(usage.cache_read_tokens),
        "cache_write_tokens": _bounded(usage.cache_write_tokens),
    }
    before = db.one(_sql.said, session_id=session_id, key=usage.key) or (0, 0.0)
    db.run(_sql.put, session_id=session_id, key=usage.key, model=usage.model, cost_usd=usage.cost_usd, **tokens)
    return Amount(tokens=sum(tokens.values()) - before[0], cost_usd=(usage.cost_usd or 0.0) - before[1])


def has_cost(db: Connection, session_id: int, prefix: str) -> bool:
    """Whether a session has said, under keys that begin so, that something cost money."""
    return db.one(_sql.has_cost, session_id=session_id, prefix=prefix) is not None


def is_of_another(db: Connection, session_id: int, key: str) -> bool:
    """Whether another session has said the same."""
    return db.one(_sql.of_another, session_id=session_id, key=key) is not None


def find_cost_before(db: Connection, session_id: int, key: str) -> float:
    """What an older session says that it has cost under the same key."""
    return float(db.must(_sql.cost_before, session_id=session_id, key=key)[0])


def _bounded(count: int) -> int:
    """A program may print any number."""
    return max(0, min(count, _MOST))


def sum_of_effort(db: Connection, effort_id: int) -> dict[str, Any] | None:
    """What an effort's sessions used together; None where none has said."""
    row = db.one(_sql.of_effort, effort_id=effort_id)
    if row is None:
        return None
    named = zip(db.columns(_sql.of_effort), row, strict=True)
    return {name: value for name, value in named if value is not None}
