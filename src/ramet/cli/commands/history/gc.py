"""`ramet gc`: what nothing reaches any more."""

import sys

import click

from ramet.cli.command import Command
from ramet.cli.invocation import Invocation
from ramet.cli.output import count, say
from ramet.cli.progress import working
from ramet.protocol.history.branches import CollectGarbage


@click.command(cls=Command, examples=["ramet gc", "ramet gc --retention-days 30 --yes"])
@click.option(
    "--retention-days",
    type=click.IntRange(min=0, max=36_500),
    default=7,
    show_default=True,
    help="How long a rewrite can still be undone.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def gc(invocation: Invocation, retention_days: int, yes: bool) -> None:
    """Delete the commits that no branch, recent move, spawn, collapse or transcript reaches."""
    if not yes:
        _confirm(retention_days)
    with working(invocation, "collecting"):
        reply = invocation.ask(CollectGarbage(retention_days=retention_days))
    say(
        invocation,
        reply,
        f"deleted {count(reply.commits, 'commit')} and {count(reply.blobs, 'content')} that nothing reached",
    )


def _confirm(retention_days: int) -> None:
    if not sys.stdin.isatty():
        raise click.UsageError("gc asks before it acts, and there is no terminal to ask on; give --yes.")
    click.echo(f"Rewrites that are older than {retention_days} days can then not be undone any more.", err=True)
    if not click.confirm("Delete what nothing else reaches?", err=True):
        click.echo("nothing was changed", err=True)
        raise click.exceptions.Exit(1)
