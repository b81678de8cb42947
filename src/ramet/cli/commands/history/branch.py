"""`ramet history branch`: the named histories."""

import click

from ramet.cli import references
from ramet.cli.command import Group
from ramet.cli.exchanges import ask_as_written
from ramet.cli.history_places import find_place
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, count, print_json, say, show_items
from ramet.cli.screens.branch_tree import read_tree, show_tree
from ramet.cli.screens.commit_lines import short, since
from ramet.protocol.history.branches import (
    At,
    BranchRow,
    CreateBranch,
    DeleteBranch,
    ListBranches,
)
from ramet.protocol.history.child_branches import ResumeLatest, Spawns

_COLUMNS: Columns[BranchRow] = {
    "BRANCH": lambda row: row.name,
    "HEAD": lambda row: row.hash and short(row.hash),
    "COMMITS": lambda row: row.depth,
    "TOKENS": lambda row: row.tokens,
    "SPAWNED FROM": lambda row: row.parent,
    "CREATED": lambda row: since(row.created_at),
}


@click.group(cls=Group)
def branch() -> None:
    """List, create and delete branches. A commit to a new name creates the branch, too."""


@branch.command("list", examples=["ramet history branch list", "ramet history branch list session/"])
@click.argument("prefix", required=False)
@click.pass_obj
def list_branches(invocation: Invocation, prefix: str | None) -> None:
    """List branches; with PREFIX, only those whose names start with it."""
    reply = invocation.ask(ListBranches(prefix=prefix))
    show_items(invocation, reply, _COLUMNS, nothing="no branches yet: `ramet history commit BRANCH TEXT`")


@branch.command(
    examples=["ramet history branch create side --from main", "ramet history branch create earlier --from main~10"]
)
@click.argument("name")
@click.option(
    "--from", "start", metavar="BRANCH|HASH", type=references.place, help="Start at this commit (default: empty)."
)
@click.pass_obj
def create(invocation: Invocation, name: str, start: str | None) -> None:
    """Create a branch. It copies nothing, so a long history costs no more than a short one."""
    place = find_place(invocation, start) if start else None
    say_where(invocation, invocation.ask(CreateBranch(name=name, from_=place)))


@branch.command(examples=["ramet history branch delete side"])
@click.argument("name", type=references.place)
@click.pass_obj
def delete(invocation: Invocation, name: str) -> None:
    """Delete a branch. `ramet history undo NAME` restores it until `ramet history gc` deletes its commits."""
    reply = invocation.ask(DeleteBranch(branch=name))
    say(invocation, reply, f"branch {name} is deleted; `ramet history undo {name}` restores it")


@branch.command(examples=["ramet history branch at main 2026-01-05T08:00:00Z", "ramet history branch at main 3f9c2b7a"])
@click.argument("name", type=references.place)
@click.argument("moment", metavar="TIME|HASH")
@click.pass_obj
def at(invocation: Invocation, name: str, moment: str) -> None:
    """Show where a branch was at a time, or at one of its commits."""
    when = {"hash": moment} if references.is_hash(moment) else {"time": moment}
    reply = ask_as_written(invocation, At, {"branch": name, **when})
    say(invocation, reply, _where(reply))


@branch.command(examples=["ramet history branch latest", "ramet history branch latest session/"])
@click.argument("prefix", required=False)
@click.pass_obj
def latest(invocation: Invocation, prefix: str | None) -> None:
    """Show the newest root branch without an end marker: where to continue after a crash."""
    reply = invocation.ask(ResumeLatest(prefix=prefix))
    where = f"{reply.branch} at {short(reply.hash)}" if reply.branch and reply.hash else reply.branch
    say(invocation, reply, where or "every branch has an end marker")


@branch.command(examples=["ramet history branch tree main", "ramet history branch tree research --json"])
@click.argument("name", type=references.place)
@click.pass_obj
def tree(invocation: Invocation, name: str) -> None:
    """Show the ancestors and descendants of a branch."""
    if invocation.as_json:
        return print_json(invocation.ask(Spawns(branch=name)))
    return show_tree(read_tree(invocation, name), name)


def say_where(invocation: Invocation, row: BranchRow, more: str = "") -> None:
    """Say where a branch is now."""
    say(invocation, row, f"branch {_where(row)}{more}")


def _where(row: BranchRow) -> str:
    """A branch and its last commit, in words."""
    if row.hash is None:
        return f"{row.name} is empty"
    return f"{row.name} is at {short(row.hash)}, {count(row.depth, 'commit')}, {count(row.tokens, 'token')}"
