"""What agents used in a period, summed up in groups."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from ramet.model.instant import from_datetime, from_iso, to_iso
from ramet.store.database.connection import Connection, to_json
from ramet.store.database.queries import QueryFile

_sql = QueryFile("memory/usage")

GROUPS = ("day", "project", "model", "agent", "skill", "effort")


class Period(Struct, frozen=True):
    """A part of a period in which days begin at the same time."""

    start_ms: int
    end_ms: int
    offset_ms: int


Key = tuple[int | None, int | None, str | None, str | None, str | None, int | None]
"""The day since 1970, the project, the model, the agent, the skill and the effort; None for those not asked for."""


class Sums(Struct, frozen=True):
    """What was used in a group."""

    calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    injected_tokens: int
    cost_usd: float | None
    estimated_usd: float | None


class Ran(Struct, frozen=True):
    """How long the sessions of a group ran."""

    seconds: float
    sessions: int


def sum_up(db: Connection, periods: Iterable[Period], by: Iterable[str], project_id: int | None) -> dict[Key, Sums]:
    """What was used, by group."""
    rows = db.all(_sql.sums, **_params(periods, by, project_id))
    return {tuple(row[:6]): Sums(*map(int, row[6:12]), *row[12:]) for row in rows}


def sum_times(db: Connection, periods: Iterable[Period], by: Iterable[str], project_id: int | None) -> dict[Key, Ran]:
    """How long sessions ran, by group."""
    rows = db.all(_sql.times, **_params(periods, by, project_id))
    return {tuple(row[:6]): Ran(float(row[6]), int(row[7])) for row in rows}


def find_first(db: Connection) -> int | None:
    """When the first session started, or used something; None if there is none."""
    used_ms, started = db.must(_sql.first)
    known = [
        each for each in (used_ms, None if started is None else from_datetime(from_iso(started))) if each is not None
    ]
    return min(known, default=None)


class Finished(Struct, frozen=True):
    """What one finished effort used."""

    tokens: float
    cost_usd: float | None
    estimated_usd: float | None


def list_finished(
    db: Connection, *, project_id: int | None, skill: str | None, model: str | None, most: int
) -> list[Finished]:
    """What the newest finished efforts of a kind used."""
    rows = db.all(_sql.finished, project_id=project_id, skill=skill, model=model, most=most)
    return [Finished(*row) for row in rows]


def _params(periods: Iterable[Period], by: Iterable[str], project_id: int | None) -> dict[str, object]:
    chosen = set(by)
    flags = {f"by_{group}": int(group in chosen) for group in GROUPS}
    return {"periods": to_json([_list(period) for period in periods]), "project_id": project_id, **flags}


def _list(period: Period) -> Sequence[object]:
    times = (to_iso(period.start_ms), to_iso(period.end_ms))
    return [period.start_ms, period.end_ms, period.offset_ms, *times]
