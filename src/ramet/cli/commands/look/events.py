"""`ramet events`: what happened, and what happens."""

from typing import get_args

import click

from ramet.cli.command import Command
from ramet.cli.exchanges import read_document
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, cell, print_json, show_items
from ramet.cli.times import instant
from ramet.model.event import Event, EventKind
from ramet.protocol.system.events import ListEvents


def _about(row: Event) -> str:
    """What the event concerns, by the names that commands take."""
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
@click.option("--after", type=click.IntRange(min=0), help="Only events behind this id; 0 begins with the first.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many events.")
@click.option("--kind", type=click.Choice(get_args(EventKind)), metavar="KIND", help="Only events of this kind.")
@click.option("-f", "--follow", is_flag=True, help="Go on with events as they happen; with --json one a line.")
@click.pass_obj
def events(invocation: Invocation, after: int | None, limit: int, kind: EventKind | None, follow: bool) -> None:
    """The last events, or those behind an id, or with --follow those that are to come."""
    if follow:
        return _follow(invocation, after, kind)
    reply = invocation.ask(ListEvents(after=after or 0, limit=limit, kind=kind, newest=after is None))
    show_items(invocation, reply, _COLUMNS, nothing="no events")
    if reply.next is not None and not invocation.as_json:
        click.echo(f"there are more: --after {reply.next}", err=True)
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
