"""`ramet ps`: who is doing what."""

import sys
import time
from collections.abc import Iterator
from typing import Any

import click

from ramet.cli.commands import Command
from ramet.cli.efforts import first_line, short_agent
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, Row, as_table, pick_cells, print_json, short_path, show_items
from ramet.cli.times import ago
from ramet.errors import DaemonUnreachable

_IDLE = "the fleet is idle: no agent holds an effort"
_LOOK_SECONDS = 1.0
_WHAT = "TASK"
_PHASE_WIDTH = 12
_WAITING = {"waiting_person": "waiting"}
"""Most of those that wait do so for a person, and a line is short."""


def _context(row: Row) -> str | None:
    usage = row["context_usage"]
    return None if usage is None else f"{usage:.0%}"


def _cost(row: Row) -> str | None:
    cost = row["cost_usd"]
    return None if cost is None else f"${cost:,.2f}"


def _phase(label: str) -> str:
    return label if len(label) <= _PHASE_WIDTH else f"{label[: _PHASE_WIDTH - 1]}…"


_COLUMNS: Columns = {
    "SESSION": lambda row: row["session_id"] and f"s{row['session_id']}",
    "AGENT": lambda row: short_agent(row["agent"]),
    "LABEL": "label",
    "EFFORT": lambda row: f"e{row['effort_id']}",
    "SKILL": "skill",
    "PHASE": lambda row: _phase(row["current_phase"] or ""),
    "STATUS": lambda row: _WAITING.get(row["status"], row["status"]),
    "CONTEXT": _context,
    "COST": _cost,
    "AGE": lambda row: ago(row["since"]),
}
_SAID_BY_SOME = {"LABEL": "label", "PHASE": "current_phase", "CONTEXT": "context_usage", "COST": "cost_usd"}
"""Columns that are left out where no agent has anything to put there."""


@click.command(cls=Command, examples=["ramet ps", "ramet ps --watch", "ramet ps --json"])
@click.option("-w", "--watch", is_flag=True, help="Go on showing it until Ctrl-C; with --json one a line.")
@click.pass_obj
def ps(invocation: Invocation, watch: bool) -> None:
    """Who is doing what: every agent that holds an effort, whoever started it.

    CONTEXT is how full its context window is, which Claude Code tells where it shows our status line (`ramet hooks
    install --status-line`); COST what its session has cost so far, AGE how old that is.
    """
    if watch:
        return _watch(invocation)
    reply = invocation.call("fleet.status")
    return show_items(invocation, reply, _columns(invocation, reply), nothing=_IDLE, cut=_WHAT)


def _columns(invocation: Invocation, reply: dict[str, Any]) -> Columns:
    empty = {heading for heading, name in _SAID_BY_SOME.items() if not any(row[name] for row in reply["items"])}
    shown = {heading: pick for heading, pick in _COLUMNS.items() if heading not in empty}
    return {**shown, _WHAT: lambda row: _what(invocation, row)}


def _what(invocation: Invocation, row: Row) -> str:
    """`login: Mend the cart`; of an agent that was given no task, the project."""
    place = short_path(invocation, row["task_id"].removesuffix("/.ramet/adhoc"))
    goal = first_line(row["goal"])
    return goal if goal and place == "." else f"{place}: {goal}" if goal else place


def _watch(invocation: Invocation) -> None:
    """Look again and again: on a terminal in its place, for anybody else whenever something has changed."""
    if invocation.as_json or not sys.stdout.isatty():
        return _print_changes(invocation)
    from rich.console import Console  # noqa: PLC0415
    from rich.live import Live  # noqa: PLC0415

    invocation.is_working = True
    with Live(console=Console(highlight=False), auto_refresh=False, screen=True) as live:
        for reply in _looks(invocation):
            columns, rows = _columns(invocation, reply), reply["items"]
            table = as_table(list(columns), pick_cells(rows, columns), _WHAT)
            live.update(table if rows else _IDLE, refresh=True)
    return None


def _print_changes(invocation: Invocation) -> None:
    before = None
    for reply in _looks(invocation):
        if reply == before:
            continue
        if invocation.as_json:
            print_json(reply, indent=None)
        else:
            show_items(invocation, reply, _columns(invocation, reply), nothing=_IDLE)
        sys.stdout.flush()
        before = reply


def _looks(invocation: Invocation) -> Iterator[dict[str, Any]]:
    """The fleet, again and again; another daemon is asked where one has gone in the meantime."""
    while True:
        try:
            yield invocation.call("fleet.status")
        except DaemonUnreachable:
            invocation.forget_connection()
            yield invocation.call("fleet.status")
        time.sleep(_LOOK_SECONDS)
