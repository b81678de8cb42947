"""What is remembered of runs, and of their lines, which are efforts.

On PostgreSQL several daemons share the runs, so there the server's own time says whether one is attended.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from ramet.model.record.effort import Failure, Needs, Outcome
from ramet.model.runs.run import (
    LineRow,
    LineState,
    Run,
    RunLimits,
    RunMode,
    derive_line_state,
)
from ramet.store.database.connection import Connection, Row, to_json
from ramet.store.database.queries import QueryFile

_sql = QueryFile("runs/runs")


class NewRun(Struct, frozen=True, kw_only=True):
    """A run about to be recorded."""

    project_id: int
    task_id: str
    name: str
    mode: RunMode
    content_hash: str | None
    limits: RunLimits
    stop_on_failure: bool
    keep_going: bool
    save_conversation: bool
    base_commit: str | None = None
    base_branch: str | None = None
    base_changes: str | None = None


class StoredRun(Run, frozen=True, kw_only=True):
    """A run, and who attends it."""

    attender: str | None
    is_attended: bool


class PlacedLine(Struct, frozen=True, kw_only=True):
    """A line about to be queued, at its place in the order of its run."""

    place: int
    key: str
    text: str
    skill: str
    driver: str | None
    agent: str | None
    """The driver that the line itself names."""
    model: str | None
    timeout_seconds: int | None
    is_done: bool
    accepts_no_change: bool


class EndedLine(Struct, frozen=True):
    """How a line ended."""

    id: int
    outcome: Outcome
    reason: str | None
    failure: Failure | None


class SkippedLine(Struct, frozen=True):
    """A line that is not run, because one that it needs did not succeed."""

    id: int
    run_line: str
    attempts: int


class DoomedLine(Struct, frozen=True):
    """A waiting line that needs the success of one that ended otherwise."""

    id: int
    run_line: str
    attempts: int
    needed_line: str
    needed_outcome: Outcome
    needed_reason: str | None


class Spent(Struct, frozen=True):
    """What the sessions of a run used together."""

    tokens: int = 0
    cost_usd: float | None = None
    is_cost_estimated: bool = False


def add(db: Connection, new: NewRun, now: str) -> int:
    """A new run; its id."""
    values = asdict(new) | {
        "limits": to_json(new.limits),
        "stop_on_failure": int(new.stop_on_failure),
        "keep_going": int(new.keep_going),
        "save_conversation": int(new.save_conversation),
    }
    return int(db.must(_sql.add, **values, now=now)[0])


def set_branch(db: Connection, run_id: int, branch: str) -> None:
    """Where a run's conversation is."""
    db.run(_sql.set_branch, id=run_id, branch=branch)


def find_by_branch(db: Connection, branch: str) -> int | None:
    """The run whose conversation is on a branch."""
    row = db.one(_sql.by_branch, branch=branch)
    return None if row is None else int(row[0])


def add_lines(
    db: Connection, run_id: int, task_id: str, lines: Sequence[PlacedLine], *, ordinal: int, reason: str, now: str
) -> dict[str, int]:
    """The lines of a run, in a statement of their own however many they are; the effort of each by its key.

    They start where their run does. `reason` is for those that were done before.
    """
    rows = db.all(
        _sql.add_lines, run_id=run_id, task_id=task_id, lines=to_json(lines), ordinal=ordinal, reason=reason, now=now
    )
    return {key: int(effort_id) for key, effort_id in rows}


def add_needs(db: Connection, run_id: int, waits: Sequence[tuple[int, int, Needs]]) -> None:
    """Let lines wait for others: efforts, those that they need, and whether for their success or for their end."""
    db.run(_sql.add_needs, waits=to_json(waits))
    db.run(_sql.set_depends_on, run_id=run_id)


def keep_going(db: Connection, run_id: int) -> None:
    """Let the lines of a run wait only for the end of others from now on."""
    db.run(_sql.keep_going, id=run_id)
    db.run(_sql.need_only_ends, run_id=run_id)


def accept_no_change(db: Connection, run_id: int) -> None:
    """Let `no_change` of a line satisfy those that need it from now on."""
    db.run(_sql.accept_no_change, run_id=run_id)


def find(db: Connection, run_id: int, now: str) -> StoredRun | None:
    """A run by its id."""
    return db.struct(StoredRun, _sql.find, id=run_id, now=now)


def list_page(
    db: Connection, *, before: int, limit: int, archived: bool, project_id: int | None, now: str
) -> list[StoredRun]:
    """The runs, the newest first; archived ones only where asked for."""
    page = {"before": before, "limit": limit, "archived": int(archived)}
    return db.structs(StoredRun, _sql.page, **page, project_id=project_id, now=now)


def tally(db: Connection, first: int, last: int) -> dict[int, Counter[LineState]]:
    """How many lines are in each state, by run."""
    counts: dict[int, Counter[LineState]] = defaultdict(Counter)
    for run_id, lifecycle, outcome, was_tried, count in db.all(_sql.tally, first=first, last=last):
        counts[run_id][derive_line_state(lifecycle, outcome, was_tried=bool(was_tried))] += count
    return counts


def sum_spent(db: Connection, first: int, last: int) -> dict[int, Spent]:
    """What was used, by run."""
    rows = db.all(_sql.spent, first=first, last=last)
    return {run_id: Spent(tokens, cost, bool(estimated)) for run_id, tokens, cost, estimated in rows}


def list_lines(db: Connection, run_id: int, characters: int) -> list[LineRow]:
    """The lines of a run in their order; of what each said, so many characters."""
    rows = db.all(_sql.lines, run_id=run_id, characters=characters)
    keys: dict[int, str] = {effort_id: key for key, effort_id, *_ in rows}
    return [_line(row, keys) for row in rows]


def _line(row: Row, keys: Mapping[int, str]) -> LineRow:
    """A row of the query, column by column. Dependencies are stored as efforts, and shown as
    the keys of lines.
    """
    key, effort_id, text, skill, lifecycle, outcome, reason, driver, depends_on, *rest = row
    _branch, _head, _worktree, attempts, *_ = rest
    state = derive_line_state(lifecycle, outcome, was_tried=attempts > 0)
    needed = [] if depends_on is None else msgspec.json.decode(depends_on, type=list[int])
    needed_keys = [keys[each] for each in needed if each in keys]
    *rest, is_estimated = rest
    rest.append(bool(is_estimated))
    return LineRow(key, effort_id, text, skill, state, outcome, reason, driver, needed_keys, *rest)


def next_place(db: Connection, run_id: int) -> int:
    """The place behind the last line of a run."""
    return int(db.must(_sql.next_place, run_id=run_id)[0])


def attend(db: Connection, run_id: int, attender: str, *, limits: RunLimits, lease_seconds: int, now: str) -> None:
    """Begin or resume a run, within bounds that may be new."""
    db.run(_sql.attend, id=run_id, attender=attender, limits=to_json(limits), lease_seconds=lease_seconds, now=now)


def renew(db: Connection, run_id: int, *, lease_seconds: int, now: str) -> None:
    """Go on attending a run."""
    db.run(_sql.renew, id=run_id, lease_seconds=lease_seconds, now=now)


def leave(db: Connection, run_id: int) -> None:
    """Attend a run no longer."""
    db.run(_sql.leave, id=run_id)


def stop(db: Connection, run_id: int, reason: str) -> None:
    """Say why no more lines of a run are begun."""
    db.run(_sql.stop, id=run_id, reason=reason)


def finish(db: Connection, run_id: int, now: str) -> None:
    """Write down that a run is over."""
    db.run(_sql.finish, id=run_id, now=now)


def archive(db: Connection, run_id: int, archived_at: str | None) -> None:
    """Hide a run from the list, or show it again."""
    db.run(_sql.archive, id=run_id, archived_at=archived_at)


def list_unsuccessful(db: Connection, run_id: int) -> list[EndedLine]:
    """The lines that have ended and did not succeed."""
    return db.structs(EndedLine, _sql.unsuccessful, run_id=run_id)


def list_unmet(db: Connection, run_id: int) -> dict[int, list[int]]:
    """For each line that needs the success of lines that ended otherwise: those lines."""
    unmet: dict[int, list[int]] = defaultdict(list)
    for effort_id, needs_id in db.all(_sql.unmet, run_id=run_id):
        unmet[effort_id].append(needs_id)
    return unmet


def retry_lines(db: Connection, effort_ids: Sequence[int]) -> None:
    """Queue lines again."""
    db.run(_sql.retry_lines, ids=to_json(effort_ids))


def find_doomed_next(db: Connection, run_id: int) -> DoomedLine | None:
    """The next waiting line, if it needs the success of one that ended otherwise."""
    return db.struct(DoomedLine, _sql.doomed_next, run_id=run_id)


def skip_line(db: Connection, effort_id: int, reason: str, now: str) -> None:
    """Finish a waiting line that cannot start."""
    db.run(_sql.skip_line, id=effort_id, reason=reason, now=now)


def skip_dependents(db: Connection, run_id: int, needs_id: int, reason: str, now: str) -> list[SkippedLine]:
    """Finish the waiting lines that need the success of a line that ended otherwise; which they are."""
    found = db.structs(SkippedLine, _sql.skip_dependents, run_id=run_id, needs_id=needs_id, reason=reason, now=now)
    return sorted(found, key=lambda line: line.id)


def finish_lines(db: Connection, run_id: int, outcome: Outcome, reason: str, now: str) -> list[tuple[int, int]]:
    """Finish all lines that wait; which they are, and how often each was attempted."""
    rows = db.all(_sql.finish_lines, run_id=run_id, outcome=outcome, reason=reason, now=now)
    return sorted((int(effort_id), int(attempts)) for effort_id, attempts in rows)


def has_queued(db: Connection, run_id: int) -> bool:
    """Whether a line of a run waits."""
    return bool(db.must(_sql.has_queued, run_id=run_id)[0])


def count_active(db: Connection, run_id: int) -> int:
    """How many lines of a run are being worked on."""
    return int(db.must(_sql.count_active, run_id=run_id)[0])


def list_outdated(db: Connection, *, before: str, project_id: int | None, now: str) -> list[int]:
    """The runs that are over, or archived, since before an instant."""
    return _ids(db.all(_sql.outdated, before=before, project_id=project_id, now=now))


def delete(db: Connection, run_id: int) -> None:
    """Forget a run and its findings. Its lines stay, as efforts of their task."""
    db.run(_sql.unlink_lines, run_id=run_id)
    db.run(_sql.delete, id=run_id)


def _ids(rows: Sequence[tuple[Any, ...]]) -> list[int]:
    return sorted(int(row[0]) for row in rows)
