"""An effort of the queue in a few words: its state, what it waits for, what it changed and what it used."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count
from ramet.cli.times import ago, until
from ramet.model.record.effort import Lifecycle
from ramet.model.work.effort_state import State, derive_state
from ramet.protocol.record.efforts import nest
from ramet.protocol.work.queue import ListWork, WorkReply

_PAGE = 1000
_COUNTED = ("input_tokens", "output_tokens", "cache_write_tokens")
"""How tokens are counted: tokens that were read from a cache were counted when they were written to it."""
_WORDS: dict[State, str] = {
    "ready": "queued",
    "blocked": "blocked",
    "parked": "queued",
    "awaited": "queued",
    "running": "running",
    "stopping": "stopping",
    "expired": "orphaned",
    "manual": "running",
    "succeeded": "success",
    "failed": "failed",
}
"""The word for each state; a finished effort has its outcome instead."""
_STATUS_WORDS = {"active": "running"}
_LEAST_CENT = 0.005
_NAMED_AFTER_SESSION = re.compile(r"([\w.-]+):[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def list_work(
    invocation: Invocation, state: Lifecycle, *, task: str | None = None, project: int | None
) -> Iterator[WorkReply]:
    """The efforts of the queue that are in a state, everywhere or in a project, page after page."""
    cursor: int | None = None
    while True:
        page = invocation.ask(ListWork(state=state, task=task, project=project, cursor=cursor, limit=_PAGE))
        yield from page.items
        if (cursor := page.next) is None:
            return


def first_line(text: str | None) -> str:
    """The first line that is not empty."""
    return next((line.strip() for line in clean(text or "").splitlines() if line.strip()), "")


def short_agent(name: str | None) -> str | None:
    """The program of an agent that is named after its program's session (`DRIVER:2f1c0c4e-…`); else its name."""
    return name and (found[1] if (found := _NAMED_AFTER_SESSION.fullmatch(name)) else name)


def state(row: WorkReply) -> str:
    """In one word: its outcome, or its state; `blocked` if it waits for another effort."""
    return row.outcome or _WORDS[derive_state(nest(row), datetime.now(UTC), blocked_by=row.blocked_by)]


def waits_for(row: WorkReply) -> str | None:
    """The effort that it needs, the time until the next attempt, or the session that runs it in its own slot."""
    if row.lifecycle != "queued":
        return None
    if row.blocked_by is not None:
        return f"e{row.blocked_by} ({_status_word(row.blocked_status)})"
    if row.blocked and row.not_before is not None:
        return until(row.not_before)
    return None if row.awaited_by is None else f"s{row.awaited_by}"


def waiting_reason(row: WorkReply) -> str:
    """Why no worker claims it, as the end of a sentence."""
    if row.run_id is not None:
        return f"belongs to r{row.run_id}: `ramet runs show r{row.run_id}`"
    if row.awaited_by is not None:
        return f"is run by s{row.awaited_by}, which waits for it: `ramet tree s{row.awaited_by}`"
    if row.blocked_by is None:
        if row.blocked and row.not_before is not None:
            return f"waits: its next attempt is in {until(row.not_before)}"
        return "is ready"
    before, status = f"e{row.blocked_by}", _status_word(row.blocked_status)
    if status in ("queued", "running", "blocked"):
        return f"waits for {before}, which is {status}"
    return f"waits for {before}, which ended with {status}: `ramet retry {before}`, or `ramet drop e{row.id}`"


def _status_word(status: str | None) -> str:
    return _STATUS_WORDS.get(status or "", status or "")


def changed(row: WorkReply) -> str | None:
    """`3 files +40 -2`."""
    changes = row.changes
    if changes is None or not changes.files:
        return None
    return f"{count(len(changes.files), 'file')} +{changes.insertions:,} -{changes.deletions:,}"


def tokens(usage: Mapping[str, Any] | None) -> int:
    """The number of tokens used, as far as it is known."""
    return sum((usage or {}).get(name) or 0 for name in _COUNTED)


def dollars(cost_usd: float | None) -> str | None:
    """`$0.03`; None if the cost is unknown, which is not the same as no cost."""
    if not cost_usd:
        return None
    return f"${cost_usd:,.2f}" if cost_usd >= _LEAST_CENT else "<$0.01"


def cost(usage: Mapping[str, Any] | None) -> str | None:
    """`$0.03`, if it is known."""
    return dollars((usage or {}).get("cost_usd"))


def used(usage: Mapping[str, Any] | None) -> list[str]:
    """`1,204 tokens` and `$0.03`, if they are known."""
    number = tokens(usage)
    return list(filter(None, [count(number, "token") if number else None, cost(usage)]))


def age(row: WorkReply) -> str | None:
    """The time since it was queued, or since it finished."""
    return ago(row.finished_at or row.created_at)
