"""Usage: what agents used in a period, in groups, each call once."""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from msgspec.structs import replace

from ramet.engine.answers import answers
from ramet.engine.record import lookup
from ramet.engine.transaction import Transaction
from ramet.errors import InvalidParams
from ramet.model.instant import given_instant, to_datetime
from ramet.protocol.memory.usage import ShowUsage, UsageReply, UsageRow, UtcOffset
from ramet.store.memory import usage
from ramet.store.memory.usage import Key, Period, Ran, Sums

_EPOCH = date(1970, 1, 1)
_NOTHING = Sums(0, 0, 0, 0, 0, 0, None, None)
_VISIBLE_USD = 1e-9
"""Estimates that were replaced by costs leave the rounding of their sums."""


@answers(ShowUsage)
def show(tx: Transaction, request: ShowUsage) -> UsageReply:
    """What was used, in groups and together."""
    until_ms = tx.now_ms + 1 if request.until is None else max(0, given_instant(request.until, "until"))
    since_ms = _find_start(tx, until_ms) if request.since is None else max(0, given_instant(request.since, "since"))
    if since_ms > until_ms:
        raise InvalidParams(
            f"since is later than until: {to_datetime(since_ms).isoformat()}",
            field="since",
            value=to_datetime(since_ms).isoformat(),
            fix="give a start before the end of the period",
        )
    project_id = lookup.project_id(tx, request.project)
    periods = _split(since_ms, until_ms, request.offsets)
    by = list(dict.fromkeys(request.by))
    sums = usage.sum_up(tx.db, periods, by, project_id)
    times = usage.sum_times(tx.db, periods, by, project_id)
    rows = [_row(key, sums.get(key, _NOTHING), times.get(key, Ran(0.0, 0))) for key in {**sums, **times}]
    rows.sort(key=_order)
    return UsageReply(
        items=rows[: request.limit] if by else [],
        total=_add_up(rows),
        since=to_datetime(since_ms),
        until=to_datetime(until_ms),
        by=by,
        left_out=max(0, len(rows) - request.limit) if by else 0,
    )


def _find_start(tx: Transaction, until_ms: int) -> int:
    first = usage.find_first(tx.db)
    return until_ms if first is None else min(first, until_ms)


def _split(since_ms: int, until_ms: int, offsets: Sequence[UtcOffset]) -> list[Period]:
    """The period in parts whose days begin at the same time: clocks are changed twice a year."""
    known = [(max(0, given_instant(each.since, "offsets")), each.minutes * 60_000) for each in offsets]
    if known != sorted(known, key=lambda each: each[0]):
        raise InvalidParams("offsets are not in the order of time", field="offsets", fix="sort them by since")
    starts = [(0, known[0][1] if known else 0), *known[1:]]
    ends = [*(start for start, _ in starts[1:]), until_ms]
    parts = (
        Period(max(since_ms, start), min(until_ms, end), offset)
        for (start, offset), end in zip(starts, ends, strict=True)
    )
    return [part for part in parts if part.start_ms < part.end_ms]


def _row(key: Key, sums: Sums, ran: Ran) -> UsageRow:
    day, project_id, model, agent, skill, effort_id = key
    estimated = sums.estimated_usd or 0.0
    is_unknown = sums.cost_usd is None and sums.estimated_usd is None
    return UsageRow(
        day=None if day is None else (_EPOCH + timedelta(days=day)).isoformat(),
        project_id=project_id,
        model=model,
        agent=agent,
        skill=skill,
        effort_id=effort_id,
        calls=sums.calls,
        input_tokens=sums.input_tokens,
        output_tokens=sums.output_tokens,
        cache_read_tokens=sums.cache_read_tokens,
        cache_write_tokens=sums.cache_write_tokens,
        injected_tokens=sums.injected_tokens,
        cache_share=_share(sums),
        cost_usd=None if is_unknown else (sums.cost_usd or 0.0) + estimated,
        is_cost_estimated=abs(estimated) > _VISIBLE_USD,
        seconds=ran.seconds,
        sessions=ran.sessions,
    )


def _share(sums: Sums) -> float | None:
    read = sums.input_tokens + sums.cache_read_tokens + sums.cache_write_tokens
    return sums.cache_read_tokens / read if read > 0 else None


def _order(row: UsageRow) -> tuple[str, float, int, str]:
    tokens = row.input_tokens + row.output_tokens + row.cache_read_tokens + row.cache_write_tokens
    name = f"{row.project_id} {row.model} {row.agent} {row.skill} {row.effort_id}"
    return row.day or "", -(row.cost_usd or 0.0), -tokens, name


def _add_up(rows: Iterable[UsageRow]) -> UsageRow:
    rows = list(rows)
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    sums = Sums(
        calls=sum(row.calls for row in rows),
        input_tokens=sum(row.input_tokens for row in rows),
        output_tokens=sum(row.output_tokens for row in rows),
        cache_read_tokens=sum(row.cache_read_tokens for row in rows),
        cache_write_tokens=sum(row.cache_write_tokens for row in rows),
        injected_tokens=sum(row.injected_tokens for row in rows),
        cost_usd=sum(costs) if costs else None,
        estimated_usd=None,
    )
    ran = Ran(sum(row.seconds for row in rows), sum(row.sessions for row in rows))
    total = _row((None, None, None, None, None, None), sums, ran)
    return replace(total, is_cost_estimated=any(row.is_cost_estimated for row in rows))
