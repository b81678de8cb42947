"""`ramet ps`: who is doing what."""

import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import click

from ramet.cli.command import Command
from ramet.cli.connections import ask
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, as_table, cell, pick_cells, print_json, short_path, show_items
from ramet.cli.screens.effort_lines import first_line, short_agent
from ramet.cli.times import ago
from ramet.errors import DaemonStopping, DaemonUnreachable
from ramet.model.record.agent import FleetMember
from ramet.protocol.record.agents import FleetStatus
from ramet.protocol.replies import Page

if TYPE_CHECKING:
    from rich.table import Table

    from ramet.client.connection import Connection

Fleet = Page[FleetMember]

_IDLE = "the fleet is idle: no agent holds an effort"
_NOBODY = "no daemon runs; `ramet daemon start` starts one"
_LOOK_SECONDS = 1.0
_WHAT = "TASK"
_PHASE_WIDTH = 12
_LEAST_WIDTH = 20
"""Of TASK: what an agent does is what people look for."""
_GIVING_WAY = ("LABEL", "SKILL", "EFFORT", "AGE", "PHASE")
"""Columns that a narrow terminal goes without, the first first. `ramet tree` and --json have them."""
_WAITING = {"waiting_person": "waiting"}
"""Most of those that wait do so for a person, and a line is short."""


def _context(row: FleetMember) -> str | None:
    return None if row.context_usage is None else f"{row.context_usage:.0%}"


def _cost(row: FleetMember) -> str | None:
    return None if row.cost_usd is None else f"${row.cost_usd:,.2f}"


def _phase(label: str) -> str:
    return label if len(label) <= _PHASE_WIDTH else f"{label[: _PHASE_WIDTH - 1]}…"


_COLUMNS: Columns[FleetMember] = {
    "SESSION": lambda row: row.session_id and f"s{row.session_id}",
    "AGENT": lambda row: short_agent(row.agent),
    "LABEL": lambda row: row.label,
    "EFFORT": lambda row: f"e{row.effort_id}",
    "SKILL": lambda row: row.skill,
    "PHASE": lambda row: _phase(row.current_phase or ""),
    "STATUS": lambda row: _WAITING.get(row.status or "", row.status),
    "CTX": _context,
    "COST": _cost,
    "AGE": lambda row: ago(row.since),
}
_SAID_BY_SOME: Columns[FleetMember] = {
    "LABEL": lambda row: row.label,
    "PHASE": lambda row: row.current_phase,
    "CTX": lambda row: row.context_usage,
    "COST": lambda row: row.cost_usd,
}
"""Columns that are left out where no agent has anything to put there."""


@click.command(cls=Command, examples=["ramet ps", "ramet ps --watch", "ramet ps --json"])
@click.option("-w", "--watch", is_flag=True, help="Go on showing it until Ctrl-C; with --json one a line.")
@click.pass_obj
def ps(invocation: Invocation, watch: bool) -> None:
    """Who is doing what: every agent that holds an effort, whoever started it.

    CTX is how full its context window is, which a program tells if it shows our status line (`ramet hooks install
    --status-line`); COST what its session has cost so far, AGE how old that is. A narrow terminal has not all columns.
    """
    if watch:
        return _watch(invocation)
    fleet = invocation.ask(FleetStatus())
    return show_items(invocation, fleet, _columns(invocation, fleet), nothing=_IDLE, cut=_WHAT)


def _columns(invocation: Invocation, fleet: Fleet) -> Columns[FleetMember]:
    """Those that have something to say, as far as the terminal is wide."""
    rows = fleet.items
    empty = {heading for heading, pick in _SAID_BY_SOME.items() if not any(map(pick, rows))}
    shown = {heading: pick for heading, pick in _COLUMNS.items() if heading not in empty}
    if sys.stdout.isatty():
        room = shutil.get_terminal_size().columns - _LEAST_WIDTH
        for heading in _GIVING_WAY:
            if _width(shown, rows) > room:
                shown.pop(heading, None)
    return {**shown, _WHAT: lambda row: _what(invocation, row)}


def _width(columns: Columns[FleetMember], rows: Sequence[FleetMember]) -> int:
    lines = [list(columns), *([cell(value) for value in cells] for cells in pick_cells(rows, columns))]
    return sum(max(map(len, column)) + 2 for column in zip(*lines, strict=True))


def _what(invocation: Invocation, row: FleetMember) -> str:
    """`login: Mend the cart`; of an agent that was given no task, the project."""
    place = short_path(invocation, row.task_id.removesuffix("/.ramet/adhoc"))
    goal = first_line(row.goal)
    return goal if goal and place == "." else f"{place}: {goal}" if goal else place


def _watch(invocation: Invocation) -> None:
    """Look again and again: on a terminal in its place, for anybody else whenever something has changed."""
    if invocation.as_json or not sys.stdout.isatty():
        return _print_changes(invocation)
    from rich.console import Console  # noqa: PLC0415
    from rich.live import Live  # noqa: PLC0415

    invocation.is_working = True
    with Live(console=Console(highlight=False), auto_refresh=False, screen=True) as live:
        for fleet in _looks(invocation):
            live.update(_NOBODY if fleet is None else _draw(invocation, fleet), refresh=True)
    return None


def _draw(invocation: Invocation, fleet: Fleet) -> "Table | str":
    columns = _columns(invocation, fleet)
    return as_table(list(columns), pick_cells(fleet.items, columns), _WHAT) if fleet.items else _IDLE


def _print_changes(invocation: Invocation) -> None:
    for fleet, _ in groupby(_looks(invocation)):
        if fleet is not None and invocation.as_json:
            print_json(fleet, indent=None)
        elif fleet is not None:
            show_items(invocation, fleet, _columns(invocation, fleet), nothing=_IDLE)
        elif not invocation.as_json:  # a program is told of agents, and of them nothing is known
            click.echo(_NOBODY)
        sys.stdout.flush()


def _looks(invocation: Invocation) -> Iterator[Fleet | None]:
    """The fleet, again and again; None while no daemon answers. Only for the first look is one started: whoever stops
    it while somebody watches wants it to stay away.
    """
    connection: Connection | None = invocation.connection
    while True:
        fleet = _look(connection)
        if fleet is None:
            connection = _connect(invocation)
            fleet = _look(connection)
        yield fleet
        time.sleep(_LOOK_SECONDS)


def _look(connection: "Connection | None") -> Fleet | None:
    try:
        return None if connection is None else ask(connection, FleetStatus())
    except (DaemonUnreachable, DaemonStopping):
        return None


def _connect(invocation: Invocation) -> "Connection | None":
    try:
        return invocation.connect(autostart=False)
    except (DaemonUnreachable, DaemonStopping):
        return None
