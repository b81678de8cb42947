"""`ramet history gc`: delete unreachable commits."""

import sys

import click

from ramet.cli.command import Command
from ramet.cli.invocation import Invocation
from ramet.cli.output import count, say
from ramet.cli.progress import progressing
from ramet.protocol.history.garbage import Collected
from ramet.protocol.history.garbage_steps import Advance, garbage_steps


@click.command(cls=Command, examples=["ramet history gc", "ramet history gc --retention-days 30 --yes"])
@click.option(
    "--retention-days",
    type=click.IntRange(min=0, max=36_500),
    default=7,
    show_default=True,
    help="Keep the commits of rewrites that are younger than this many days.",
)
@click.option("--yes", is_flag=True, help="Delete without asking.")
@click.pass_obj
def gc(invocation: Invocation, retention_days: int, yes: bool) -> None:
    """Delete commits that no branch, recent rewrite, spawn, collapse or transcript reaches."""
    if not yes:
        _confirm(retention_days)
    with progressing(invocation, "collecting") as advance:
        reply = _collect(invocation, retention_days, lambda done, total: advance(f"{done:,} of {count(total, 'row')}"))
    say(
        invocation,
        reply,
        f"deleted {count(reply.commits, 'commit')} and {count(reply.blobs, 'content')} that nothing reached",
    )


def _collect(invocation: Invocation, retention_days: int, advance: Advance) -> Collected:
    """Take every step; between two of them other requests are served."""
    running = garbage_steps(retention_days, advance)
    request = next(running)
    while True:
        try:
            request = running.send(invocation.ask(request))
        except StopIteration as ended:
            return ended.value  # type: ignore[no-any-return]


def _confirm(retention_days: int) -> None:
    if not sys.stdin.isatty():
        raise click.UsageError("gc asks before it deletes, and there is no terminal to ask on; give --yes.")
    click.echo(f"Rewrites that are older than {retention_days} days can no longer be undone after this.", err=True)
    if not click.confirm("Delete unreachable commits?", err=True):
        click.echo("nothing was changed", err=True)
        raise click.exceptions.Exit(1)
