"""`ramet runs`: what was run, and what can be gone on with."""

import sys

import click

from ramet.cli import references
from ramet.cli.command import Group
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, say, show_items
from ramet.cli.screens.run import show_run
from ramet.cli.times import ago
from ramet.protocol.runs.runs import ArchiveRun, Cleaned, CleanRuns, ListRuns, RunReply

_COLUMNS: Columns[RunReply] = {
    "RUN": lambda row: f"r{row.id}",
    "MODE": lambda row: row.mode,
    "STATE": lambda row: row.state + (" (archived)" if row.archived_at else ""),
    "DONE": lambda row: f"{row.counts['completed']}/{sum(row.counts.values())}",
    "FAILED": lambda row: row.counts["failed"] or None,
    "TOKENS": lambda row: f"{row.tokens:,}" if row.tokens else None,
    "COST": lambda row: f"${row.cost_usd:,.2f}" if row.cost_usd else None,
    "AGE": lambda row: ago(row.finished_at or row.started_at),
    "NAME": lambda row: row.name,
}
_run = click.argument("run_id", metavar="RUN", type=references.run)


@click.group(cls=Group)
def runs() -> None:
    """Runs of task files, and chains. `ramet run --resume RUN` goes on with one that was interrupted."""


@runs.command("list", examples=["ramet runs list", "ramet runs list --all --json"])
@click.option("--all", "everything", is_flag=True, help="Archived ones too.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many, the newest first.")
@click.pass_obj
def list_runs(invocation: Invocation, everything: bool, limit: int) -> None:
    """The runs, the newest first."""
    reply = invocation.ask(ListRuns(all=everything, limit=limit))
    show_items(invocation, reply, _COLUMNS, nothing="no runs: `ramet run FILE`", cut="NAME")


@runs.command(examples=["ramet runs show r3", "ramet runs show r3 --conversation"])
@_run
@click.option("--conversation", is_flag=True, help="Only what was said, all of it.")
@click.pass_obj
def show(invocation: Invocation, run_id: int, conversation: bool) -> None:
    """The lines of RUN, what they left in git, and what to do next."""
    show_run(invocation, run_id, conversation=conversation)


@runs.command(examples=["ramet runs archive r3", "ramet runs archive r3 --undo"])
@_run
@click.option("--undo", is_flag=True, help="Show it in the list again.")
@click.pass_obj
def archive(invocation: Invocation, run_id: int, undo: bool) -> None:
    """Hide RUN from the list. It can still be shown and resumed."""
    reply = invocation.ask(ArchiveRun(run_id=run_id, archived=not undo))
    say(invocation, reply, f"r{run_id} is " + ("in the list again" if undo else "archived"))


@runs.command(examples=["ramet runs clean --dry-run", "ramet runs clean --days 7 --yes"])
@click.option(
    "--days", type=click.IntRange(0, 36_500), metavar="N", help="For how long they are kept.  [runs.retention_days]"
)
@click.option("--dry-run", is_flag=True, help="Only say which.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def clean(invocation: Invocation, days: int | None, dry_run: bool, yes: bool) -> None:
    """Delete the runs that were finished or archived so many days ago, with their conversations and findings.

    Their efforts, sessions and branches in git stay.
    """
    kept_days = invocation.configuration.settings.runs.retention_days if days is None else days
    if not dry_run and not yes and not _confirm(invocation, kept_days):
        return click.echo("nothing was deleted", err=True)
    reply = invocation.ask(CleanRuns(days=kept_days, dry_run=dry_run))
    return say(invocation, reply, _sentence(reply, "would be deleted" if dry_run else "deleted"))


def _confirm(invocation: Invocation, days: int) -> bool:
    """Say which would go; whether a person wants it."""
    if invocation.as_json or not sys.stdin.isatty():
        raise click.UsageError("clean asks before it acts, and there is nobody to ask; give --yes or --dry-run.")
    planned = invocation.ask(CleanRuns(days=days, dry_run=True))
    if not planned.run_ids:
        return True
    click.echo(_sentence(planned, "would be deleted"), err=True)
    return click.confirm("Delete?", err=True)


def _sentence(reply: Cleaned, how: str) -> str:
    names = ", ".join(f"r{run_id}" for run_id in reply.run_ids)
    return f"{how}: {names}" if names else "there is nothing to delete"
