"""What is remembered of what agents used."""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ramet.model.record.budget import Amount
from ramet.model.work.stream import Usage
from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile
from ramet.store.record import usage_times
from ramet.store.record.usage_times import Added

_sql = QueryFile("record/usage")

_CLASSES = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_MOST = 2**53
"""More than anybody uses, and what every database and JSON reader can hold."""


class Said(Struct, frozen=True):
    """What a session has said that it used under a key."""

    used: Usage
    estimated_usd: float | None = None

    @property
    def amount(self) -> Amount:
        """How much that is, at its cost or else at what it would cost."""
        used, cost = self.used, self.estimated_usd if self.used.cost_usd is None else self.used.cost_usd
        tokens = used.input_tokens + used.output_tokens + used.cache_read_tokens + used.cache_write_tokens
        return Amount(tokens=tokens, cost_usd=cost or 0.0)


def find(db: Connection, session_id: int, key: str) -> Said | None:
    """What a session has said under a key."""
    row = db.one(_sql.said, session_id=session_id, key=key)
    if row is None:
        return None
    model, given, taken, read, written, cost_usd, estimated_usd = row
    tokens = {"input_tokens": given, "output_tokens": taken, "cache_read_tokens": read, "cache_write_tokens": written}
    return Said(Usage(key=key, model=model, cost_usd=cost_usd, **tokens), estimated_usd)


def put(db: Connection, session_id: int, said: Said, before: Said | None, at_ms: int) -> None:
    """What a session used, under its key, instead of what it had said before; and by how much more, at its time."""
    used = said.used
    for added in _differences(said, before):
        usage_times.add(db, session_id, added, at_ms)
    tokens = {name: getattr(used, name) for name in _CLASSES}
    costs = {"cost_usd": used.cost_usd, "estimated_usd": said.estimated_usd}
    db.run(_sql.put, session_id=session_id, key=used.key, model=used.model, **tokens, **costs)


def _differences(said: Said, before: Said | None) -> list[Added]:
    """What is to be added to the times of a session. A key that gets another model leaves the one that it had."""
    if before is None or before.used.model == said.used.model:
        return [_difference(said, before or Said(Usage(key=said.used.key)), said.used.model)]
    nothing = Said(Usage(key=said.used.key))
    return [_difference(nothing, before, before.used.model), _difference(said, nothing, said.used.model)]


def _difference(said: Said, before: Said, model: str | None) -> Added:
    tokens = {name: getattr(said.used, name) - getattr(before.used, name) for name in _CLASSES}
    read = sum(tokens[name] for name in _CLASSES if name != "output_tokens")
    return Added(
        model=model,
        # A call reads before it writes. What grows without it is the same call, of which more is known.
        calls=1 if read > 0 else -1 if said.used == Usage(key=said.used.key) and read < 0 else 0,
        cost_usd=_subtract(said.used.cost_usd, before.used.cost_usd),
        estimated_usd=_subtract(said.estimated_usd, before.estimated_usd),
        **tokens,
    )


def _subtract(now: float | None, before: float | None) -> float | None:
    return None if now is None and before is None else (now or 0.0) - (before or 0.0)


def bounded(used: Usage) -> Usage:
    """A program may print any number."""
    return replace(used, **{name: max(0, min(getattr(used, name), _MOST)) for name in _CLASSES})


class Whole(Struct, frozen=True):
    """What a cost of a whole session has to do with."""

    has_running: bool
    """Whether the transcript has told one."""
    status_usd: float | None
    """What the status line has told."""
    estimated_usd: float
    """What the session's own calls would cost whose cost is unknown."""
    below_usd: float
    """The same for its sub-agents, and for theirs."""
    taken_off_usd: float
    """What was taken off for these, as a negative amount."""


def find_whole(db: Connection, session_id: int, *, running: str, status_line: str, below: str) -> Whole:
    """By the beginning of the keys of a transcript's costs, and the keys of the others."""
    names = {"running": running, "status_line": status_line, "below": below}
    has_running, *amounts = db.must(_sql.whole, session_id=session_id, **names)
    return Whole(bool(has_running), *amounts)


def forget_estimates(db: Connection, session_id: int) -> None:
    """The cost of a session is known: its calls need no estimates."""
    db.run(_sql.forget_estimates, session_id=session_id)
    usage_times.forget_estimates(db, session_id)


def has_cost(db: Connection, session_id: int, prefix: str) -> bool:
    """Whether a session has said, under keys that begin so, that something cost money."""
    return db.one(_sql.has_cost, session_id=session_id, prefix=prefix) is not None


def find_other(db: Connection, session_id: int, key: str) -> int | None:
    """The first other session that has said the same."""
    row = db.one(_sql.of_another, session_id=session_id, key=key)
    return None if row is None else int(row[0])


def find_cost_before(db: Connection, session_id: int, key: str) -> float:
    """What an older session says that it has cost under the same key."""
    return float(db.must(_sql.cost_before, session_id=session_id, key=key)[0])


def sum_of_effort(db: Connection, effort_id: int) -> dict[str, Any] | None:
    """What an effort's sessions used together; None where none has said."""
    row = db.one(_sql.of_effort, effort_id=effort_id)
    if row is None:
        return None
    named = zip(db.columns(_sql.of_effort), row, strict=True)
    found = {name: value for name, value in named if value is not None}
    return found | {"is_cost_estimated": True} if "is_cost_estimated" in found else found
