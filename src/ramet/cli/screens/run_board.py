"""How `ramet run` looks on a terminal: a row for each line of the run, and above them a line for each change."""

import sys
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from ramet.cli.invocation import Invocation
from ramet.cli.screens.board import (
    Board,
    Display,
    open_display,
    short_number,
)
from ramet.cli.screens.effort_lines import cost, first_line, tokens
from ramet.cli.screens.work_changes import Change, Running
from ramet.cli.times import ago, duration, seconds_between
from ramet.model.instant import from_iso
from ramet.model.record.effort import Lifecycle
from ramet.model.runs.run import LineRow, LineState
from ramet.protocol.runs.runs import RunDetail
from ramet.protocol.work.queue import WorkReply

if TYPE_CHECKING:
    from rich.console import RenderableType

_AROUND = 8
"""Rows of the terminal that are not the board's."""
_BEFORE = 2
"""How many lines that are over stay in sight above the first that is not, where not all fit."""
_OVER = ("completed", "failed", "skipped")
_COLOURS: dict[LineState, str] = {
    "completed": "green",
    "failed": "red",
    "in_progress": "bold",
    "skipped": "dim",
    "pending": "dim",
}
_UNFINISHED: dict[Lifecycle, LineState] = {"queued": "pending", "active": "in_progress"}


class ShownLine(NamedTuple):
    """A row of the board."""

    key: str
    state: LineState
    driver: str | None
    time: str | None
    tokens: int
    cost: str | None
    words: str | None


def open_run_display(invocation: Invocation, run: RunDetail) -> Display:
    """The display that fits where the output goes."""
    if invocation.as_json or not sys.stdout.isatty():
        return open_display(invocation)
    return RunBoard(invocation, run)


class RunBoard(Board):
    """A table of the lines of a run."""

    def __init__(self, invocation: Invocation, run: RunDetail) -> None:
        super().__init__(invocation)
        self._lines = {row.effort_id: _from_run(row) for row in run.lines}

    def tell(self, change: Change) -> None:
        self._lines[change.effort.id] = _from_change(change)
        super().tell(change)

    def draw(self, running: Collection[Running]) -> None:
        at_work = {one.effort.id: one for one in running}
        rows = [_follow(line, at_work.get(effort_id)) for effort_id, line in self._in_sight().items()]
        self._live.update(_table(rows), refresh=True)

    def _in_sight(self) -> dict[int, ShownLine]:
        """As many lines as fit, among them the first that is not over."""
        ids = list(self._lines)
        fit = max(self._console.height - _AROUND, 1)
        current = next((place for place, line in enumerate(self._lines.values()) if line.state not in _OVER), 0)
        first = max(0, min(current - _BEFORE, len(ids) - fit))
        return {effort_id: self._lines[effort_id] for effort_id in ids[first : first + fit]}


def _from_run(row: LineRow) -> ShownLine:
    took = None
    if row.started_at and row.finished_at:
        took = duration(seconds_between(from_iso(row.started_at), from_iso(row.finished_at)))
    return ShownLine(
        key=row.key,
        state=row.state,
        driver=row.driver,
        time=took,
        tokens=row.tokens,
        cost=f"${row.cost_usd:,.2f}" if row.cost_usd else None,
        words=row.text,
    )


def _from_change(change: Change) -> ShownLine:
    effort = change.effort
    return ShownLine(
        key=effort.run_line or "",
        state=_UNFINISHED.get(effort.lifecycle, "completed" if effort.outcome == "success" else "failed"),
        driver=effort.driver,
        time=None if change.seconds is None else duration(change.seconds),
        tokens=tokens(effort.usage),
        cost=cost(effort.usage),
        words=_last_words(effort),
    )


def _last_words(effort: WorkReply) -> str | None:
    """Before its agent has said anything. Why an earlier attempt ended is of no interest once the next has begun."""
    return effort.prompt if effort.lifecycle == "active" else effort.reason or effort.prompt


def _follow(line: ShownLine, running: Running | None) -> ShownLine:
    """A line that is at work has news all the time."""
    if running is None:
        return line
    usage = running.effort.usage
    return line._replace(
        time=ago(running.since) or line.time,
        tokens=tokens(usage) or line.tokens,
        cost=cost(usage) or line.cost,
        words=running.words or line.words,
    )


def _table(lines: list[ShownLine]) -> "RenderableType":
    from rich.padding import Padding  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    for heading in ("TASK", "STATE", "AGENT", "TIME", "TOKENS", "COST"):
        table.add_column(heading, no_wrap=True)
    table.add_column("LAST WORDS", no_wrap=True, overflow="ellipsis", ratio=1)
    for line in lines:
        table.add_row(
            Text(line.key),
            Text(line.state.replace("_", " "), _COLOURS[line.state]),
            Text(line.driver or "-"),
            line.time or "-",
            short_number(line.tokens),
            line.cost or "-",
            Text(first_line(line.words), "dim"),
        )
    return Padding(table, (1, 0, 0, 0))
