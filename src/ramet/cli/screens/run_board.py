"""How `ramet run` looks on a terminal: a row for each line of the run, and above them a line for each change."""

import sys
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from ramet.cli.invocation import Invocation
from ramet.cli.output import Row
from ramet.cli.screens.board import (
    Board,
    Display,
    open_display,
    short_number,
)
from ramet.cli.screens.effort_lines import cost, first_line, tokens
from ramet.cli.screens.work_changes import Change, Running
from ramet.cli.times import ago, duration, seconds_between

if TYPE_CHECKING:
    from rich.console import RenderableType

_AROUND = 8
"""Rows of the terminal that are not the board's."""
_BEFORE = 2
"""How many lines that are over stay in sight above the first that is not, where not all fit."""
_OVER = ("completed", "failed", "skipped")
_COLOURS = {"completed": "green", "failed": "red", "in_progress": "bold", "skipped": "dim", "pending": "dim"}


def open_run_display(invocation: Invocation, run: Row) -> Display:
    """The display that fits where the output goes."""
    if invocation.as_json or not sys.stdout.isatty():
        return open_display(invocation)
    return RunBoard(invocation, run)


class RunBoard(Board):
    """A table of the lines of a run."""

    def __init__(self, invocation: Invocation, run: Row) -> None:
        super().__init__(invocation)
        self._lines = {row["effort_id"]: _from_run(row) for row in run["lines"]}

    def tell(self, change: Change) -> None:
        self._lines[change.effort["id"]] = _from_change(change)
        super().tell(change)

    def draw(self, running: Collection[Running]) -> None:
        at_work = {one.effort["id"]: one for one in running}
        rows = [_follow(line, at_work.get(effort_id)) for effort_id, line in self._in_sight().items()]
        self._live.update(_table(rows), refresh=True)

    def _in_sight(self) -> dict[int, dict[str, Any]]:
        """As many lines as fit, among them the first that is not over."""
        ids = list(self._lines)
        fit = max(self._console.height - _AROUND, 1)
        current = next((place for place, line in enumerate(self._lines.values()) if line["state"] not in _OVER), 0)
        first = max(0, min(current - _BEFORE, len(ids) - fit))
        return {effort_id: self._lines[effort_id] for effort_id in ids[first : first + fit]}


def _from_run(row: Row) -> dict[str, Any]:
    over = row["started_at"] and row["finished_at"]
    return {
        "key": row["key"],
        "state": row["state"],
        "driver": row["driver"],
        "time": duration(seconds_between(row["started_at"], row["finished_at"])) if over else None,
        "tokens": row["tokens"],
        "cost": f"${row['cost_usd']:,.2f}" if row["cost_usd"] else None,
        "words": row["text"],
    }


def _from_change(change: Change) -> dict[str, Any]:
    effort = change.effort
    states = {"queued": "pending", "active": "in_progress"}
    over = "completed" if effort["outcome"] == "success" else "failed"
    return {
        "key": effort["run_line"],
        "state": states.get(effort["lifecycle"], over),
        "driver": effort["driver"],
        "time": None if change.seconds is None else duration(change.seconds),
        "tokens": tokens(effort["usage"]),
        "cost": cost(effort["usage"]),
        "words": _last_words(effort),
    }


def _last_words(effort: Row) -> str | None:
    """Before its agent has said anything. Why an earlier attempt ended is of no interest once the next has begun."""
    words: str | None = effort["prompt"] if effort["lifecycle"] == "active" else effort["reason"] or effort["prompt"]
    return words


def _follow(line: dict[str, Any], running: Running | None) -> dict[str, Any]:
    """A line that is at work has news all the time."""
    if running is None:
        return line
    usage = running.effort["usage"]
    news = {"time": ago(running.since), "tokens": tokens(usage), "cost": cost(usage), "words": running.words}
    return {**line, **{name: value for name, value in news.items() if value}}


def _table(lines: list[dict[str, Any]]) -> "RenderableType":
    from rich.padding import Padding  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    for heading in ("TASK", "STATE", "AGENT", "TIME", "TOKENS", "COST"):
        table.add_column(heading, no_wrap=True)
    table.add_column("LAST WORDS", no_wrap=True, overflow="ellipsis", ratio=1)
    for line in lines:
        table.add_row(
            Text(line["key"]),
            Text(line["state"].replace("_", " "), _COLOURS[line["state"]]),
            Text(line["driver"] or "-"),
            line["time"] or "-",
            short_number(line["tokens"]),
            line["cost"] or "-",
            Text(first_line(line["words"]), "dim"),
        )
    return Padding(table, (1, 0, 0, 0))
