"""`ramet events`: past events, and new ones as they happen."""

from typing import get_args

import click

from ramet.cli.command import Command
from ramet.cli.exchanges import read_document
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, cell, print_json, show_items
from ramet.cli.times import instant
from ramet.model.event import Event, EventKind
from ramet.protocol.pages import begin
from ramet.protocol.system.events import ListEvents


def _about(row: Event) -> str:
    """What the event is about, by the references that commands take."""
    named = (
        ("", row.agent_id),
        ("s", row.session_id),
        ("e", row.effort_id),
        ("", row.task_id),
    )
    names = " ".join(f"{prefix}{value}" for prefix, value in named if value is not None)
    return names or (f"project {row.project_id}" if row.project_id else "")


_COLUMNS: Columns[Event] = {
    "ID": lambda row: row.id,
    "AT": lambda row: instant(row.at),
    "KIND": lambda row: row.kind,
    "ABOUT": _about,
    "DATA": lambda row: row.data,
}


@click.command(
    cls=Command,
    examples=[
        "ramet events",
        "ramet events --after 0 --kind effort.finished",
        "ramet events --follow --json | jq .kind",
    ],
)
@click.option("--after", type=click.IntRange(min=0), help="Show events after this id; 0 starts with the first.")
@click.option("--limit", type=click.IntRange(min=1), default=50, help="Show at most this many events (default: 50).")
@click.option("--kind", type=click.Choice(get_args(EventKind)), metavar="KIND", help="Show only events of this kind.")
@click.option(
    "-f", "--follow", is_flag=True, help="Show new events as they happen; with --json, one document per line."
)
@click.pass_obj
def events(invocation: Invocation, after: int | None, limit: int, kind: EventKind | None, follow: bool) -> None:
    """Show the newest events, the events after an id, or with --follow new ones as they happen."""
    if follow:
        return _follow(invocation, after, kind)
    if after is None:
        reply = invocation.ask(ListEvents(limit=limit, kind=kind, newest=True))
    else:
        reply = begin(invocation.ask, ListEvents(after=after, kind=kind), limit)
    show_items(invocation, reply, _COLUMNS, nothing="no events")
    if reply.next is not None and not invocation.as_json:
        click.echo(f"more events exist: --after {reply.next} shows them", err=True)
    return None


def _follow(invocation: Invocation, after: int | None, kind: EventKind | None) -> None:
    for told in invocation.connection.subscribe(after):
        event = read_document(told, Event)
        if kind in (None, event.kind):
            _print_event(invocation, event)


def _print_event(invocation: Invocation, event: Event) -> None:
    if invocation.as_json:
        return print_json(event, indent=None)
    return click.echo("  ".join(cell(part) for part in (event.id, instant(event.at), event.kind, _about(event))))
