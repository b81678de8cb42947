"""`ramet worktree`: the worktrees that Ramet created on this machine."""

import sys

import click
from msgspec.structs import replace

from ramet.cli import references
from ramet.cli.command import Group
from ramet.cli.commands.record.project_scope import Scope, everywhere_option, find_scope
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, count, say, short_path, show_items
from ramet.cli.progress import working
from ramet.protocol.replies import Page
from ramet.protocol.work.worktrees import CleanedWorktree, CleanWorktrees, ListWorktrees, TidyRefs, WorktreeRow

_of_project = click.option(
    "--project",
    type=references.project,
    help="Only the worktrees of this project: its number or a path in it (default: the current directory's).",
)


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
    """List and remove the worktrees that Ramet created on this machine, one for each chain of efforts."""


@worktree.command(
    "list", examples=["ramet worktree list", "ramet worktree list -A", "ramet worktree list --project ../site"]
)
@_of_project
@everywhere_option()
@click.pass_obj
def list_worktrees(invocation: Invocation, project: int | str | None, everywhere: bool) -> None:
    """List the worktrees of this project, their efforts, and how much work exists only there."""
    scope = find_scope(invocation, everywhere=everywhere, project=project)
    with working(invocation, "reading the worktrees"):
        reply = invocation.ask(ListWorktrees(project=scope.project_id))
    short: Columns[WorktreeRow] = {**_COLUMNS, "PATH": lambda row: short_path(invocation, row.path)}
    columns = short if sys.stdout.isatty() else _COLUMNS  # a program gets whole paths
    columns = scope.widen_table(columns, lambda row: row.project_id)
    show_items(invocation, reply, columns, nothing=scope.say("no worktrees"), cut="PATH")


@worktree.command(
    examples=[
        "ramet worktree clean --dry-run",
        "ramet worktree clean --yes",
        "ramet worktree clean -A --dry-run",
        "ramet worktree clean --discard PATH PATH",
    ]
)
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=references.path)
@_of_project
@everywhere_option("Clean up the worktrees of every project.")
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing.")
@click.option(
    "--discard",
    metavar="PATH",
    multiple=True,
    type=references.path,
    help="Remove this worktree with the work in it (repeatable).",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def clean(
    invocation: Invocation,
    paths: tuple[str, ...],
    *,
    project: int | str | None,
    everywhere: bool,
    dry_run: bool,
    discard: tuple[str, ...],
    yes: bool,
) -> None:
    """Remove this project's worktrees of finished efforts, or only each PATH.

    Work that exists only in a worktree is kept: it is committed to a ref of its own, and the ref is shown. Only
    --discard PATH loses it.
    """
    named = list({*paths, *discard}) or None
    scope = Scope.named() if named else find_scope(invocation, everywhere=everywhere, project=project)
    request = CleanWorktrees(project=scope.project_id, paths=named, discard=list(discard), dry_run=dry_run)
    if not dry_run and not yes and not _confirm(invocation, request):
        return click.echo("nothing was removed", err=True)
    with working(invocation, "cleaning up"):
        reply = invocation.ask(request)
    return _show_cleaned(invocation, reply)


def _confirm(invocation: Invocation, request: CleanWorktrees) -> bool:
    """Show what would be removed, and ask the person whether to do it."""
    if invocation.as_json or not sys.stdin.isatty():
        raise click.UsageError("clean asks for confirmation, and this is no terminal; give --yes or --dry-run.")
    planned = invocation.ask(replace(request, dry_run=True))
    if not planned.items:
        return True
    _show_cleaned(invocation, planned)
    return click.confirm("Remove them?", err=True)


def _show_cleaned(invocation: Invocation, reply: Page[CleanedWorktree]) -> None:
    lines = [f"{row.path}: {row.reason}" for row in reply.items]
    say(invocation, reply, "\n".join(lines) or "nothing to remove")


@worktree.command(examples=["ramet worktree tidy --dry-run", "ramet worktree tidy", "ramet worktree tidy -A"])
@_of_project
@everywhere_option("Tidy the repositories of every project.")
@click.option("--dry-run", is_flag=True, help="Show what would be deleted, and delete nothing.")
@click.pass_obj
def tidy(invocation: Invocation, project: int | str | None, everywhere: bool, dry_run: bool) -> None:
    """Delete the branches and kept refs that Ramet left in git, if another ref has all of their commits.

    Work that exists nowhere else stays, and so does a branch that a worktree or an unfinished effort uses.
    """
    scope = find_scope(invocation, everywhere=everywhere, project=project)
    with working(invocation, "reading the refs"):
        reply = invocation.ask(TidyRefs(project=scope.project_id, dry_run=dry_run))
    gone = [row for row in reply.items if row.removed]
    how = "would be deleted" if dry_run else "deleted"
    lines = [f"{row.ref} ({row.commit[:8]}) {how}: {row.reason}" for row in gone]
    left = len(reply.items) - len(gone)
    lines += [f"{count(left, 'ref')} kept, whose work exists only there or is in use"] if left else []
    say(invocation, reply, "\n".join(lines) or "nothing to delete")
