"""`ramet runs`: list, show, archive and clean up runs."""

import sys

import click
from msgspec.structs import replace

from ramet.cli import references
from ramet.cli.command import Group
from ramet.cli.commands.record.project_scope import everywhere_option, find_scope
from ramet.cli.invocation import Invocation
from ramet.cli.output import print_json, say
from ramet.cli.screens.board import short_number
from ramet.cli.screens.run import progress, show_run
from ramet.cli.screens.states import style_of
from ramet.cli.screens.styled_lines import Column, draw_table, plain, print_lines, terminal_width
from ramet.cli.times import ago
from ramet.protocol.runs.runs import ArchiveRun, Cleaned, CleanRuns, ListRuns, RunReply

_COLUMNS: list[Column[RunReply]] = [
    Column("RUN", lambda row: [(f"r{row.id}", "bold")]),
    Column("STATE", lambda row: [(_word(row), style_of(row.state))]),
    Column("PROGRESS", lambda row: plain(str(progress(row)))),
    Column("FAILED", lambda row: [(str(row.counts["failed"]), "red")] if row.counts["failed"] else plain(None)),
    Column("AGE", lambda row: plain(ago(row.finished_at or row.started_at)), is_number=True),
    Column("MODE", lambda row: plain(row.mode), is_extra=True),
    Column("TOKENS", lambda row: plain(short_number(row.tokens)), is_number=True, is_extra=True),
    Column("NAME", lambda row: plain(row.name)),
]
_run = click.argument("run_id", metavar="RUN", type=references.run)


@click.group(cls=Group)
def runs() -> None:
    """List, show, archive and clean up runs. `ramet run --resume RUN` continues an interrupted run."""


@runs.command("list", examples=["ramet runs list", "ramet runs list -A", "ramet runs list --all --json"])
@click.option("--all", "everything", is_flag=True, help="List archived runs too.")
@everywhere_option(is_all_taken=True)
@click.option("--limit", type=click.IntRange(min=1), default=50, metavar="N", help="List at most N runs (default: 50).")
@click.pass_obj
def list_runs(invocation: Invocation, everything: bool, everywhere: bool, limit: int) -> None:
    """List the runs of this project, newest first. PROGRESS is the finished and all tasks, the time and the cost."""
    scope = find_scope(invocation, everywhere=everywhere)
    reply = invocation.ask(ListRuns(all=everything, project=scope.project_id, limit=limit))
    if invocation.as_json:
        return print_json(reply)
    if not reply.items:
        return click.echo(scope.say("no runs yet: `ramet run FILE` starts one"))
    columns = scope.widen(_COLUMNS, lambda row: row.project_id)
    return print_lines(draw_table(columns, reply.items, terminal_width()), cut=True)


def _word(row: RunReply) -> str:
    return row.state + (" (archived)" if row.archived_at else "") + (" (purged)" if row.purged_at else "")


@runs.command(examples=["ramet runs show r3", "ramet runs show r3 --conversation"])
@_run
@click.option("--conversation", is_flag=True, help="Show the whole conversation instead.")
@click.pass_obj
def show(invocation: Invocation, run_id: int, conversation: bool) -> None:
    """Show the tasks of RUN, its branches in git, and what to do next."""
    show_run(invocation, run_id, conversation=conversation)


@runs.command(examples=["ramet runs archive r3", "ramet runs archive r3 --undo"])
@_run
@click.option("--undo", is_flag=True, help="List it again.")
@click.pass_obj
def archive(invocation: Invocation, run_id: int, undo: bool) -> None:
    """Hide RUN from the list. It can still be shown and resumed."""
    reply = invocation.ask(ArchiveRun(run_id=run_id, archived=not undo))
    say(invocation, reply, f"r{run_id} is " + ("listed again" if undo else "archived"))


@runs.command(examples=["ramet runs purge r3", "ramet runs purge r3 --reason 'customer data' --yes"])
@_run
@click.option("--reason", default="", metavar="TEXT", help="Why, for the tombstones.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def purge(invocation: Invocation, run_id: int, reason: str, yes: bool) -> None:
    """Remove the texts of RUN, of its conversation and of its sessions. This cannot be undone.

    Hashes, sizes, times and usage stay, and a tombstone says who removed the texts, when and why.
    """
    from ramet.cli.commands.record.purge import purge_run  # noqa: PLC0415

    purge_run(invocation, run_id, reason, yes=yes)


@runs.command(examples=["ramet runs clean --dry-run", "ramet runs clean --days 7 --yes", "ramet runs clean -A --yes"])
@everywhere_option("Delete old runs of every project.")
@click.option(
    "--days",
    type=click.IntRange(0, 36_500),
    metavar="N",
    help="Keep runs for N days (default: runs.retention_days of `ramet config`).",
)
@click.option("--dry-run", is_flag=True, help="List the runs that would be deleted, and delete nothing.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def clean(invocation: Invocation, *, everywhere: bool, days: int | None, dry_run: bool, yes: bool) -> None:
    """Delete this project's old runs, with their conversations and findings.

    A run is old if it was finished or archived more than --days ago. Its efforts, sessions and branches in git stay.
    """
    kept_days = invocation.configuration.settings.runs.retention_days if days is None else days
    scope = find_scope(invocation, everywhere=everywhere)
    request = CleanRuns(days=kept_days, project=scope.project_id, dry_run=dry_run)
    if not dry_run and not yes and not _confirm(invocation, request):
        return click.echo("nothing was deleted", err=True)
    reply = invocation.ask(request)
    return say(invocation, reply, _sentence(reply, "would be deleted" if dry_run else "deleted"))


def _confirm(invocation: Invocation, request: CleanRuns) -> bool:
    """List the runs, and ask; whether the person agrees."""
    if invocation.as_json or not sys.stdin.isatty():
        raise click.UsageError("clean asks for confirmation, and there is no terminal; give --yes or --dry-run.")
    planned = invocation.ask(replace(request, dry_run=True))
    if not planned.run_ids:
        return True
    click.echo(_sentence(planned, "would be deleted"), err=True)
    return click.confirm("Delete them?", err=True)


def _sentence(reply: Cleaned, how: str) -> str:
    names = ", ".join(f"r{run_id}" for run_id in reply.run_ids)
    return f"{how}: {names}" if names else "nothing to delete"
