"""How an effort of the queue is told: its state, what it waits for, what it changed and what it used."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ramet.cli.invocation import Invocation
from ramet.cli.output import Row, clean, count
from ramet.cli.times import ago, until

_PAGE = 1000
_COUNTED = ("input_tokens", "output_tokens", "cache_write_tokens")
"""What tokens are counted by: what was read from a cache was counted when it was written."""
_NAMED_AFTER_SESSION = re.compile(r"([\w.-]+):[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def list_work(invocation: Invocation, **params: Any) -> Iterator[Row]:
    """The efforts that `work.list` has, page after page."""
    cursor = None
    while True:
        page = invocation.call("work.list", limit=_PAGE, cursor=cursor, **params)
        yield from page["items"]
        if (cursor := page["next"]) is None:
            return


def first_line(text: str | None) -> str:
    """The first line that says something."""
    return next((line.strip() for line in clean(text or "").splitlines() if line.strip()), "")


def short_agent(name: str | None) -> str | None:
    """Of an agent that is named after its program's session (`claude:2f1c0c4e-…`), the program."""
    return name and (found[1] if (found := _NAMED_AFTER_SESSION.fullmatch(name)) else name)


def state(row: Row) -> str:
    """In one word: how it ended, or where it is; `blocked` where it waits for another one."""
    if row["lifecycle"] == "queued" and row["blocked_by"] is not None:
        return "blocked"
    return str(row["outcome"] or row["lifecycle"])


def waits_for(row: Row) -> str | None:
    """The effort before it, the time of the next attempt, or the session in whose slot it is run."""
    if row["lifecycle"] != "queued":
        return None
    if row["blocked_by"] is not None:
        return f"e{row['blocked_by']} ({row['blocked_status']})"
    if row["blocked"]:
        return until(row["not_before"])
    return None if row["awaited_by"] is None else f"s{row['awaited_by']}"


def waiting_reason(row: Row) -> str:
    """Why nobody claims it, as the end of a sentence."""
    if row["run_id"] is not None:
        return f"belongs to r{row['run_id']}: `ramet runs show r{row['run_id']}`"
    if row["awaited_by"] is not None:
        return f"is run by s{row['awaited_by']}, which waits for it: `ramet tree s{row['awaited_by']}`"
    if row["blocked_by"] is None:
        return f"waits: its next attempt is in {until(row['not_before'])}" if row["blocked"] else "is ready"
    before, status = f"e{row['blocked_by']}", row["blocked_status"]
    if status in ("queued", "active", "blocked"):
        return f"waits for {before}, which is {status}"
    return f"waits for {before}, which ended with {status}: `ramet retry {before}`, or `ramet drop e{row['id']}`"


def changed(row: Row) -> str | None:
    """`3 files +40 -2`."""
    changes = row["changes"]
    if not changes or not changes["files"]:
        return None
    return f"{count(len(changes['files']), 'file')} +{changes['insertions']:,} -{changes['deletions']:,}"


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


def age(row: Row) -> str | None:
    """Since when it is in the queue, or since when it is finished."""
    return ago(row["finished_at"] or row["created_at"])
