"""`ramet worktree`: the worktrees that Ramet made on this machine."""

import sys

import click
from msgspec.structs import replace

from ramet.cli import references
from ramet.cli.command import Group
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, say, show_items
from ramet.cli.progress import working
from ramet.protocol.replies import Page
from ramet.protocol.work.worktrees import CleanedWorktree, CleanWorktrees, ListWorktrees, WorktreeRow

_of_project = click.option("--project", type=references.project, help="Only of this project: its number or its path.")


def _size(row: WorktreeRow) -> str | None:
    return None if row.bytes is None else f"{row.bytes / 1e6:,.1f} MB"


_COLUMNS: Columns[WorktreeRow] = {
    "EFFORT": lambda row: row.effort_id and f"e{row.effort_id}",
    "STATE": lambda row: row.state.replace("_", " "),
    "UNCOMMITTED": lambda row: row.uncommitted_files,
    "UNPUSHED": lambda row: row.unpushed_commits,
    "SIZE": _size,
    "BRANCH": lambda row: row.branch,
    "PATH": lambda row: row.path,
}


@click.group(cls=Group)
def worktree() -> None:
    """The worktrees that Ramet made on this machine, one for each chain of efforts."""


@worktree.command("list", examples=["ramet worktree list", "ramet worktree list --project ."])
@_of_project
@click.pass_obj
def list_worktrees(invocation: Invocation, project: int | str | None) -> None:
    """Every worktree, who uses it, and how much in it exists nowhere else."""
    with working(invocation, "looking at the worktrees"):
        reply = invocation.ask(ListWorktrees(project=project))
    show_items(invocation, reply, _COLUMNS, nothing="no worktrees")


@worktree.command(
    examples=[
        "ramet worktree clean --dry-run",
        "ramet worktree clean --yes",
        "ramet worktree clean --discard PATH PATH",
    ]
)
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=references.path)
@_of_project
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option(
    "--discard", metavar="PATH", multiple=True, type=references.path, help="Lose the work in this one; may be repeated."
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def clean(
    invocation: Invocation,
    paths: tuple[str, ...],
    project: int | str | None,
    dry_run: bool,
    discard: tuple[str, ...],
    yes: bool,
) -> None:
    """Remove the worktrees whose efforts have finished, or only each PATH.

    Work in them that exists nowhere else is kept: committed to a ref of its own, which is named. Only --discard PATH
    loses it.
    """
    request = CleanWorktrees(
        project=project, paths=list({*paths, *discard}) or None, discard=list(discard), dry_run=dry_run
    )
    if not dry_run and not yes and not _confirm(invocation, request):
        return click.echo("nothing was removed", err=True)
    with working(invocation, "cleaning up"):
        reply = invocation.ask(request)
    return _show_cleaned(invocation, reply)


def _confirm(invocation: Invocation, request: CleanWorktrees) -> bool:
    """Say what would be done; whether a person wants it."""
    if invocation.as_json or not sys.stdin.isatty():
        raise click.UsageError("clean asks before it acts, and there is nobody to ask; give --yes or --dry-run.")
    planned = invocation.ask(replace(request, dry_run=True))
    if not planned.items:
        return True
    _show_cleaned(invocation, planned)
    return click.confirm("Clean up?", err=True)


def _show_cleaned(invocation: Invocation, reply: Page[CleanedWorktree]) -> None:
    lines = [f"{row.path}: {row.reason}" for row in reply.items]
    say(invocation, reply, "\n".join(lines) or "nothing to remove")
