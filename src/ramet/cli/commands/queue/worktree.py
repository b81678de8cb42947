"""`ramet worktree`: the worktrees that Ramet made on this machine."""

import sys
from typing import Any

import click

from ramet.cli import references
from ramet.cli.command import Group
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, Row, say, show_items
from ramet.cli.progress import working

_of_project = click.option("--project", type=references.project, help="Only of this project: its number or its path.")


def _size(row: Row) -> str | None:
    return None if row["bytes"] is None else f"{row['bytes'] / 1e6:,.1f} MB"


_COLUMNS: Columns = {
    "EFFORT": lambda row: row["effort_id"] and f"e{row['effort_id']}",
    "STATE": lambda row: row["state"].replace("_", " "),
    "UNCOMMITTED": "uncommitted_files",
    "UNPUSHED": "unpushed_commits",
    "SIZE": _size,
    "BRANCH": "branch",
    "PATH": "path",
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
        reply = invocation.call("worktree.list", project=project)
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
    params = {"project": project, "paths": list({*paths, *discard}) or None, "discard": list(discard)}
    if not dry_run and not yes and not _confirm(invocation, params):
        return click.echo("nothing was removed", err=True)
    with working(invocation, "cleaning up"):
        reply = invocation.call("worktree.clean", **params, dry_run=dry_run)
    return _show_cleaned(invocation, reply)


def _confirm(invocation: Invocation, params: dict[str, Any]) -> bool:
    """Say what would be done; whether a person wants it."""
    if invocation.as_json or not sys.stdin.isatty():
        raise click.UsageError("clean asks before it acts, and there is nobody to ask; give --yes or --dry-run.")
    planned = invocation.call("worktree.clean", **params, dry_run=True)
    if not planned["items"]:
        return True
    _show_cleaned(invocation, planned)
    return click.confirm("Clean up?", err=True)


def _show_cleaned(invocation: Invocation, reply: dict[str, Any]) -> None:
    lines = [f"{row['path']}: {row['reason']}" for row in reply["items"]]
    say(invocation, reply, "\n".join(lines) or "nothing to remove")
