"""`ramet landings`: the landing queue."""

import click

from ramet.cli import references
from ramet.cli.command import Group
from ramet.cli.commands.landing.landing_lines import outcome, style_of
from ramet.cli.commands.record.project_scope import everywhere_option, find_scope
from ramet.cli.invocation import Invocation
from ramet.cli.output import print_json, say, show_row
from ramet.cli.screens.styled_lines import Column, draw_table, plain, print_lines, terminal_width
from ramet.cli.times import ago
from ramet.protocol.landing.landings import DropLanding, GetLanding, LandingRow, ListLandings, RetryLanding


def _efforts(row: LandingRow) -> str:
    return ", ".join(f"e{effort}" for effort in row.efforts)


_COLUMNS: list[Column[LandingRow]] = [
    Column("LANDING", lambda row: [(f"l{row.id}", "bold")]),
    Column("STATE", lambda row: [(f"waits for l{row.blocked_by}" if row.blocked_by else row.state, style_of(row))]),
    Column("WORK", lambda row: plain(f"undo l{row.undoes}" if row.undoes else _efforts(row))),
    Column("TARGET", lambda row: plain(row.target)),
    Column("AGE", lambda row: plain(ago(row.finished_at or row.created_at)), is_number=True),
    Column("METHOD", lambda row: plain(row.method), is_extra=True),
    Column("WHAT", lambda row: plain(row.reason or row.message.partition("\n")[0])),
]
_landing = click.argument("landing_id", metavar="LANDING", type=references.landing)


@click.group(cls=Group)
def landings() -> None:
    """List, show, retry and drop landings. `ramet land` queues them."""


@landings.command("list", examples=["ramet landings list", "ramet landings list -A", "ramet landings list --json"])
@everywhere_option()
@click.option("--limit", type=click.IntRange(min=1), default=50, metavar="N", help="List at most N (default: 50).")
@click.pass_obj
def list_landings(invocation: Invocation, everywhere: bool, limit: int) -> None:
    """List the landings of this project, newest first."""
    scope = find_scope(invocation, everywhere=everywhere)
    reply = invocation.ask(ListLandings(project=scope.project_id, limit=limit))
    if invocation.as_json:
        return print_json(reply)
    if not reply.items:
        return click.echo(scope.say("no landings yet: `ramet land EFFORT` queues one"))
    columns = scope.widen(_COLUMNS, lambda row: row.project_id)
    return print_lines(draw_table(columns, reply.items, terminal_width()), cut=True)


@landings.command(examples=["ramet landings show l3", "ramet landings show l3 --json"])
@_landing
@click.pass_obj
def show(invocation: Invocation, landing_id: int) -> None:
    """Show LANDING: its commits, its checks, and what became of it."""
    show_row(invocation, invocation.ask(GetLanding(landing_id=landing_id)))


@landings.command(examples=["ramet landings retry l3"])
@_landing
@click.pass_obj
def retry(invocation: Invocation, landing_id: int) -> None:
    """Queue LANDING again, after it failed, conflicted, stopped or was dropped."""
    reply = invocation.ask(RetryLanding(landing_id=landing_id))
    say(invocation, reply, outcome(reply))


@landings.command(examples=["ramet landings drop l3"])
@_landing
@click.pass_obj
def drop(invocation: Invocation, landing_id: int) -> None:
    """Remove LANDING from the queue. Its branch stays, and what needs it waits until you drop it too."""
    reply = invocation.ask(DropLanding(landing_id=landing_id))
    say(invocation, reply, outcome(reply))
