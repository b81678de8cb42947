"""An effort of the queue in a few words: its state, what it waits for, what it changed, used and was refused."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count
from ramet.cli.screens.styled_lines import Line
from ramet.cli.times import ago, database_time, until
from ramet.model.record.effort import Lifecycle
from ramet.model.record.session import RefusedCall
from ramet.model.record.skill import BUILT_IN
from ramet.model.runs.run import Run
from ramet.model.work.effort_state import State, derive_state
from ramet.protocol.pages import follow
from ramet.protocol.record.efforts import EffortRow, nest
from ramet.protocol.runs.runs import StartedRun
from ramet.protocol.work.queue import AddedWork, ListWork, WorkReply

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
    "unchanged": "no_change",
    "failed": "failed",
}
"""The word for each state; a finished effort has its outcome instead."""
_STATUS_WORDS = {"active": "running"}
_LEAST_CENT = 0.005
_SHORT_HASH = 8
_NAMED_FILES = 3
"""How many files with changes are named; the rest is counted."""
_NAMED_AFTER_SESSION = re.compile(r"([\w.-]+):[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def list_work(
    invocation: Invocation, state: Lifecycle, *, task: str | None = None, project: int | None
) -> Iterator[WorkReply]:
    """The efforts of the queue that are in a state, everywhere or in a project, page after page."""
    for page in follow(invocation.ask, ListWork(state=state, task=task, project=project, limit=_PAGE)):
        yield from page.items


def first_line(text: str | None) -> str:
    """The first line that is not empty."""
    return next((line.strip() for line in clean(text or "").splitlines() if line.strip()), "")


def short_agent(name: str | None) -> str | None:
    """The program of an agent that is named after its program's session (`DRIVER:2f1c0c4e-…`); else its name."""
    return name and (found[1] if (found := _NAMED_AFTER_SESSION.fullmatch(name)) else name)


def base_of(row: EffortRow | Run, *, is_short: bool = False) -> str | None:
    """`fix-cart 1f3c9a2`, with what was taken along; None if no base was recorded."""
    if row.base_commit is None:
        return None
    base = clean(f"{row.base_branch or 'commit'} {row.base_commit[:_SHORT_HASH]}")
    if row.base_changes is None:
        return base
    return f"{base} + changes" if is_short else f"{base} with uncommitted changes ({row.base_changes[:_SHORT_HASH]})"


def list_start(name: str, added: AddedWork | StartedRun) -> list[str]:
    """Where new work starts, and the changes that it does not see."""
    base = base_of(added)
    lines = [f"{name} starts at {base}"] if base else []
    if added.uncommitted:
        lines.append(f"{_files(added.uncommitted)} changes that {name} does not see; --with-changes takes them along")
    if added.base_note:
        lines.append(clean(f"note: {added.base_note}"))
    return lines


def _files(paths: Sequence[str]) -> str:
    """`README.md has`, `a.py and b.py have`, `a.py, b.py, c.py and 4 more files have`."""
    if len(paths) == 1:
        return f"{clean(paths[0])} has"
    more = len(paths) - _NAMED_FILES
    shown = [*map(clean, paths[:_NAMED_FILES]), *([count(more, "more file")] if more > 0 else [])]
    return f"{', '.join(shown[:-1])} and {shown[-1]} have"


def state(row: WorkReply) -> str:
    """In one word: its outcome, or its state; `blocked` if it waits for another effort."""
    return row.outcome or _WORDS[derive_state(nest(row), database_time(), blocked_by=row.blocked_by)]


def tells_reason(skill: str, outcome: str | None) -> bool:
    """Whether a row shows the reason of an outcome first: of all but a success, and of skills whose result is a text,
    as the verdict of a review.
    """
    built_in = BUILT_IN.get(skill)
    return outcome is not None and (outcome != "success" or (built_in is not None and built_in.reports))


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
    again = " and add it again with --accept-no-change" if status == "no_change" else ""
    return f"waits for {before}, which ended with {status}: `ramet retry {before}`, or `ramet drop e{row.id}`{again}"


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


def dollars(cost_usd: float | None, *, is_estimated: bool = False) -> str | None:
    """`$0.03`, and `~$0.03` if it is estimated; None if the cost is unknown, which is not the same as no cost."""
    if not cost_usd:
        return None
    return ("~" if is_estimated else "") + (f"${cost_usd:,.2f}" if cost_usd >= _LEAST_CENT else "<$0.01")


def cost(usage: Mapping[str, Any] | None) -> str | None:
    """`$0.03`, if it is known."""
    known = usage or {}
    return dollars(known.get("cost_usd"), is_estimated=bool(known.get("is_cost_estimated")))


def sum_costs(usages: Iterable[Mapping[str, Any] | None]) -> dict[str, Any]:
    """What several cost together, as `cost` shows it."""
    known = [usage for usage in usages if usage]
    is_estimated = any(usage.get("is_cost_estimated") for usage in known)
    return {"cost_usd": sum(usage.get("cost_usd") or 0.0 for usage in known), "is_cost_estimated": is_estimated}


def used(usage: Mapping[str, Any] | None) -> list[str]:
    """`1,204 tokens` and `$0.03`, if they are known."""
    number = tokens(usage)
    return list(filter(None, [count(number, "token") if number else None, cost(usage)]))


def age(row: WorkReply) -> str | None:
    """The time since it was queued, or since it finished."""
    return ago(row.finished_at or row.created_at)


def refused_line(effort_id: int, call: RefusedCall) -> Line:
    """`Bash npm test: ramet allow e4 'run: npm test'`."""
    times = f" ({count(call.times, 'time')})" if call.times > 1 else ""
    wanted = " ".join(clean(f"{call.name} {call.call}").split())
    return [(wanted, "yellow"), (f"{times}: {fix_of(effort_id, call)}", "")]


def fix_of(effort_id: int, call: RefusedCall) -> str:
    """What would allow a call."""
    if not call.rules:
        return clean(call.advice)
    return clean(f"`ramet allow e{effort_id} {' '.join(shlex.quote(rule) for rule in call.rules)}`")


def refused_word(number: int) -> str | None:
    """`2 refused`, if something was refused."""
    return f"{number} refused" if number else None
