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
    "TASK": "task_id",
    "EFFORT": lambda row: f"e{row['effort_id']}",
    "SKILL": "skill",
    "PHASE": "current_phase",
    "STATUS": "status",
    "CONTEXT": _context,
    "HEARTBEATS": "heartbeat_counter",
    "SINCE": lambda row: ago(row["since"]),
}


@click.command(cls=Command, examples=["ramet ps", "ramet ps --json"])
@click.pass_obj
def ps(invocation: Invocation) -> None:
    """Who is doing what: every agent that holds an effort."""
    reply = invocation.call("fleet.status")
    show_items(invocation, reply, _COLUMNS, nothing="the fleet is idle: no agent holds an effort")
