"""The offer of `ramet init` to import what agent programs have stored."""

import sys

import click

from ramet.cli.commands.memory.imports import command, discovery
from ramet.cli.invocation import Invocation
from ramet.cli.output import count


def offer(invocation: Invocation, *, is_wanted: bool | None) -> None:
    """One line if there are sessions that were not imported; at a terminal, a question, unless it is answered."""
    sources = command.list_new(invocation, discovery.discover(invocation, ()))
    if not sources:
        return
    programs = ", ".join(sorted({each.vendor for each in sources}))
    found = f"{count(len(sources), 'stored session')} of {programs} found"
    if is_wanted is None and sys.stdin.isatty() and sys.stdout.isatty():
        is_wanted = click.confirm(f"{found}. Import them?", default=False, err=True)
    if not is_wanted:
        click.echo(f"import   {found}: `ramet import` imports them")
        return
    command.show_results(invocation, [], command.run(invocation, sources))


def import_quietly(invocation: Invocation) -> None:
    """Import everything, and say nothing."""
    command.run(invocation, discovery.discover(invocation, ()))
