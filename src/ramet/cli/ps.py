"""`ramet ps`: who is doing what."""

import click

from ramet.cli.commands import Command
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, Row, show_items
from ramet.cli.times import ago


def _context(row: Row) -> str | None:
    usage = row["context_usage"]
    return None if usage is None else f"{usage:.0%}"


_COLUMNS: Columns = {
    "AGENT": "agent",
    "LABEL": "label",
    "EFFORT": lambda row: f"e{row['effort_id']}",
    "SKILL": "skill",
    "PHASE": "current_phase",
    "STATUS": "status",
    "CONTEXT": _context,
    "HEARTBEATS": "heartbeat_counter",
    "SINCE": lambda row: ago(row["since"]),
    "TASK": "task_id",
}
_SAID_BY_SOME = {
    "LABEL": "label",
    "PHASE": "current_phase",
    "CONTEXT": "context_usage",
    "HEARTBEATS": "heartbeat_counter",
}
"""Columns that are left out where no agent has anything to put there."""


@click.command(cls=Command, examples=["ramet ps", "ramet ps --json"])
@click.pass_obj
def ps(invocation: Invocation) -> None:
    """Who is doing what: every agent that holds an effort."""
    reply = invocation.call("fleet.status")
    empty = {heading for heading, name in _SAID_BY_SOME.items() if not any(row[name] for row in reply["items"])}
    columns = {heading: pick for heading, pick in _COLUMNS.items() if heading not in empty}
    show_items(invocation, reply, columns, nothing="the fleet is idle: no agent holds an effort", cut="TASK")
