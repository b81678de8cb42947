"""The screen of `ramet run` on a terminal: a row for each line of the run, and above them a line for each change."""

import sys
import time
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ramet.cli.invocation import Invocation
from ramet.cli.progress import Progress
from ramet.cli.screens.agent_names import doing, effort_agent
from ramet.cli.screens.board import Board, Display, draw_board, open_display, short_number
from ramet.cli.screens.effort_lines import changed, cost, first_line, sum_costs, tells_reason, tokens
from ramet.cli.screens.states import style_of
from ramet.cli.screens.styled_lines import Column, Line, draw_table, plain
from ramet.cli.screens.work_changes import Change, Running, line_state
from ramet.cli.times import ago, duration, seconds_between
from ramet.model.instant import from_iso
from ramet.model.runs.run import LineRow, LineState
from ramet.protocol.runs.runs import RunDetail
from ramet.protocol.work.queue import WorkReply

if TYPE_CHECKING:
    from rich.console import RenderableType

_AROUND = 10
"""Rows of the terminal that are not the table's."""
_BEFORE = 2
"""How many finished lines stay visible above the first unfinished one, if not all lines fit."""
_FINISHED: tuple[LineState, ...] = ("completed", "no_change", "failed", "skipped")


class ShownLine(NamedTuple):
    """A row of the board."""

    key: str
    agent: str
    state: LineState
    time: str | None
    tokens: int
    cost: Mapping[str, Any]
    """As `cost` shows it."""
    now: Line

    @property
    def word(self) -> str:
        """Its state, in words."""
        return self.state.replace("_", " ")


def open_run_display(invocation: Invocation, run: RunDetail) -> Display:
    """The display that fits the output."""
    if invocation.as_json or not sys.stdout.isatty():
        return open_display(invocation)
    return RunBoard(invocation, run)


class RunBoard(Board):
    """A table of the lines of a run, with the progress of the run below it."""

    def __init__(self, invocation: Invocation, run: RunDetail) -> None:
        super().__init__(invocation)
        self._lines = {row.effort_id: _from_run(row) for row in run.lines}
        self._began = time.monotonic()

    def tell(self, change: Change) -> None:
        self._lines[change.effort.id] = _from_effort(change.effort, change.seconds)
        self._live.update(self._picture(), refresh=True)
        super().tell(change)

    def queue(self, effort: WorkReply) -> None:
        """Show a line that waits: it is new, or it is tried again."""
        self._lines[effort.id] = _from_effort(effort, None)

    def draw(self, running: Collection[Running], progress: Progress) -> None:  # noqa: ARG002  the run has its own
        self._running = {one.effort.id: one for one in running}
        self._live.update(self._picture(), refresh=True)

    def _picture(self) -> "RenderableType":
        lines = {effort_id: _follow(line, self._running.get(effort_id)) for effort_id, line in self._lines.items()}
        finished = sum(line.state in _FINISHED for line in lines.values())
        spent = cost(sum_costs(line.cost for line in lines.values()))
        progress = Progress(finished, len(lines), time.monotonic() - self._began, spent)
        return draw_board(
            draw_table(_COLUMNS, self._in_sight(list(lines.values())), self._console.width), str(progress)
        )

    def _in_sight(self, lines: list[ShownLine]) -> list[ShownLine]:
        """As many lines as fit, among them the first that is not finished."""
        fit = max(self._console.height - _AROUND, 1)
        current = next((place for place, line in enumerate(lines) if line.state not in _FINISHED), 0)
        first = max(0, min(current - _BEFORE, len(lines) - fit))
        return lines[first : first + fit]


def _from_run(row: LineRow) -> ShownLine:
    took = None
    if row.started_at and row.finished_at:
        took = duration(seconds_between(from_iso(row.started_at), from_iso(row.finished_at)))
    return ShownLine(
        key=row.key,
        agent=effort_agent(row.driver, row.effort_id),
        state=row.state,
        time=took,
        tokens=row.tokens,
        cost={"cost_usd": row.cost_usd, "is_cost_estimated": row.is_cost_estimated},
        now=_result(row, row.state, row.output) if row.state in _FINISHED else doing(None, row.text),
    )


def _from_effort(effort: WorkReply, seconds: float | None) -> ShownLine:
    state = line_state(effort)
    words = effort.output_content or changed(effort)
    return ShownLine(
        key=effort.run_line or "",
        agent=effort_agent(effort.driver, effort.id),
        state=state,
        time=None if seconds is None else duration(seconds),
        tokens=tokens(effort.usage),
        cost=effort.usage or {},
        now=_result(effort, state, words) if state in _FINISHED else doing(None, effort.prompt),
    )


def _result(row: LineRow | WorkReply, state: LineState, output: str | None) -> Line:
    """The last words of a finished line; of one that failed or was skipped, the reason; of a review, its verdict."""
    words = (row.reason, output) if tells_reason(row.skill, row.outcome) else (output, row.reason)
    return [(first_line(words[0]) or first_line(words[1]) or "-", "dim" if state == "completed" else "")]


def _follow(line: ShownLine, running: Running | None) -> ShownLine:
    """A running line has news all the time."""
    if running is None:
        return line
    usage = running.effort.usage
    return line._replace(
        time=ago(running.since) or line.time,
        tokens=tokens(usage) or line.tokens,
        cost=usage if usage and usage.get("cost_usd") else line.cost,
        now=doing(running.now, running.effort.prompt),
    )


_COLUMNS: list[Column[ShownLine]] = [
    Column("TASK", lambda line: [(line.key, "bold")]),
    Column("AGENT", lambda line: plain(line.agent)),
    Column("STATE", lambda line: [(line.word, style_of(line.word))]),
    Column("TIME", lambda line: plain(line.time), is_number=True),
    Column("COST", lambda line: plain(cost(line.cost)), is_number=True),
    Column("TOKENS", lambda line: plain(short_number(line.tokens)), is_number=True, is_extra=True),
    Column("NOW", lambda line: line.now),
]
