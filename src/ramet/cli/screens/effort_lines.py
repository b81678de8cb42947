"""How an effort of the queue is told: its state, what it waits for, what it changed and what it used."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count
from ramet.cli.times import ago, until
from ramet.model.record.effort import Lifecycle
from ramet.model.work.effort_state import BY_LIFECYCLE, State, derive_state
from ramet.protocol.record.efforts import nest
from ramet.protocol.work.queue import ListWork, WorkReply

_PAGE = 1000
_COUNTED = ("input_tokens", "output_tokens", "cache_write_tokens")
"""What tokens are counted by: what was read from a cache was counted when it was written."""
_WORDS: dict[State, str] = {
    **{state: lifecycle for lifecycle, states in BY_LIFECYCLE.items() for state in states},
    "blocked": "blocked",
}
"""The word for each state: its lifecycle, which says enough in a list beside what it waits for."""
_NAMED_AFTER_SESSION = re.compile(r"([\w.-]+):[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def list_work(invocation: Invocation, state: Lifecycle, task: str | None = None) -> Iterator[WorkReply]:
    """The efforts of the queue that are in a state, page after page."""
    cursor: int | None = None
    while True:
        page = invocation.ask(ListWork(state=state, task=task, cursor=cursor, limit=_PAGE))
        yield from page.items
        if (cursor := page.next) is None:
            return


def first_line(text: str | None) -> str:
    """The first line that says something."""
    return next((line.strip() for line in clean(text or "").splitlines() if line.strip()), "")


def short_agent(name: str | None) -> str | None:
    """Of an agent that is named after its program's session (`DRIVER:2f1c0c4e-…`), the program."""
    return name and (found[1] if (found := _NAMED_AFTER_SESSION.fullmatch(name)) else name)


def state(row: WorkReply) -> str:
    """In one word: how it ended, or where it is; `blocked` where it waits for another one."""
    return row.outcome or _WORDS[derive_state(nest(row), datetime.now(UTC), blocked_by=row.blocked_by)]


def waits_for(row: WorkReply) -> str | None:
    """The effort before it, the time of the next attempt, or the session in whose slot it is run."""
    if row.lifecycle != "queued":
        return None
    if row.blocked_by is not None:
        return f"e{row.blocked_by} ({row.blocked_status})"
    if row.blocked and row.not_before is not None:
        return until(row.not_before)
    return None if row.awaited_by is None else f"s{row.awaited_by}"


def waiting_reason(row: WorkReply) -> str:
    """Why nobody claims it, as the end of a sentence."""
    if row.run_id is not None:
        return f"belongs to r{row.run_id}: `ramet runs show r{row.run_id}`"
    if row.awaited_by is not None:
        return f"is run by s{row.awaited_by}, which waits for it: `ramet tree s{row.awaited_by}`"
    if row.blocked_by is None:
        if row.blocked and row.not_before is not None:
            return f"waits: its next attempt is in {until(row.not_before)}"
        return "is ready"
    before, status = f"e{row.blocked_by}", row.blocked_status
    if status in ("queued", "active", "blocked"):
        return f"waits for {before}, which is {status}"
    return f"waits for {before}, which ended with {status}: `ramet retry {before}`, or `ramet drop e{row.id}`"


def changed(row: WorkReply) -> str | None:
    """`3 files +40 -2`."""
    changes = row.changes
    if changes is None or not changes.files:
        return None
    return f"{count(len(changes.files), 'file')} +{changes.insertions:,} -{changes.deletions:,}"


def tokens(usage: Mapping[str, Any] | None) -> int:
    """How many tokens were used, as far as it is known."""
    return sum((usage or {}).get(name) or 0 for name in _COUNTED)


def cost(usage: Mapping[str, Any] | None) -> str | None:
    """`$0.03`, where it is known."""
    dollars = (usage or {}).get("cost_usd")
    return f"${dollars:,.2f}" if dollars else None


def used(usage: Mapping[str, Any] | None) -> list[str]:
    """`1,204 tokens` and `$0.03`, where they are known."""
    number = tokens(usage)
    return list(filter(None, [count(number, "token") if number else None, cost(usage)]))


def age(row: WorkReply) -> str | None:
    """Since when it is in the queue, or since when it is finished."""
    return ago(row.finished_at or row.created_at)
