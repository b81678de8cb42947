"""`ramet report`: the output of efforts, as text."""

import sys

import click

from ramet.cli import references
from ramet.cli.command import Group
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count, paged, print_json, say
from ramet.errors import ReportMissing
from ramet.protocol.record.efforts import GetEffort
from ramet.protocol.work.worktrees import SyncReport


@click.group(cls=Group)
def report() -> None:
    """Print and update the output of efforts. It is kept in the database; people find copies under .ramet/."""


@report.command(examples=["ramet report show e12", "ramet report show e12 > plan.md"])
@click.argument("effort_id", metavar="EFFORT", type=references.effort)
@click.pass_obj
def show(invocation: Invocation, effort_id: int) -> None:
    """Print the output of an effort, as the database has it. Later efforts get it in their prompts."""
    with paged(invocation):
        print_output(invocation, effort_id)


@report.command(examples=["ramet report sync e12"])
@click.argument("effort_id", metavar="EFFORT", type=references.effort)
@click.pass_obj
def sync(invocation: Invocation, effort_id: int) -> None:
    """Read a report that you edited on disk back into the database."""
    reply = invocation.ask(SyncReport(effort_id=effort_id))
    how = f"now has {count(reply.characters, 'character')} from" if reply.changed else "is already that of"
    say(invocation, reply, f"the output of e{effort_id} {how} {reply.report_file}")


def print_output(invocation: Invocation, effort_id: int) -> None:
    """Print the output of an effort, and nothing else."""
    row = invocation.ask(GetEffort(effort_id=effort_id))
    text = row.output_content
    if text is None:
        raise ReportMissing(f"effort {effort_id} has no output", fix=f"see what happened: `ramet show e{effort_id}`")
    if invocation.as_json:
        shown = {"effort_id": effort_id, "report_file": row.report_file, "output_content": text}
        return print_json({**shown, "refused": row.refused, "refused_calls": row.refused_calls})
    if row.refused:  # beside the output, which programs read as it is
        click.echo(f"{count(row.refused, 'call')} refused: `ramet allow e{effort_id}` lists them", err=True)
    return print_text(text)


def print_text(text: str) -> None:
    """Print a text byte for byte; on a terminal, without control sequences."""
    if sys.stdout.isatty():
        return click.echo(clean(text))
    return click.echo(text.encode(), nl=False)  # as bytes: click would strip colours from a text
