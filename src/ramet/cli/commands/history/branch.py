"""`ramet branch`: the named histories, their moves, and the children that were spawned from them."""

from typing import TypedDict, Unpack, get_args

import click

from ramet.cli import references
from ramet.cli.command import Command, Group
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
    ListMoves,
    MoveRow,
    Reset,
)
from ramet.protocol.history.child_branches import Collapse, Inheritance, ResumeLatest, Spawn, Spawns
from ramet.protocol.history.contexts import Filter

_COLUMNS: Columns[BranchRow] = {
    "BRANCH": lambda row: row.name,
    "HEAD": lambda row: row.hash and short(row.hash),
    "COMMITS": lambda row: row.depth,
    "TOKENS": lambda row: row.tokens,
    "SPAWNED FROM": lambda row: row.parent,
    "CREATED": lambda row: since(row.created_at),
}
_MOVE_COLUMNS: Columns[MoveRow] = {
    "MOVE": lambda row: row.id,
    "WHY": lambda row: row.why,
    "FROM": lambda row: row.old and short(row.old),
    "TO": lambda row: row.new and short(row.new),
    "WHEN": lambda row: since(row.at),
    "TAKEN BACK": lambda row: row.undone,
}


@click.group(cls=Group)
def branch() -> None:
    """The named histories. Committing to one that does not exist yet starts it."""


@branch.command("list", examples=["ramet branch list", "ramet branch list session/"])
@click.argument("prefix", required=False)
@click.pass_obj
def list_branches(invocation: Invocation, prefix: str | None) -> None:
    """The branches by name, or those whose names begin with PREFIX."""
    reply = invocation.ask(ListBranches(prefix=prefix))
    show_items(invocation, reply, _COLUMNS, nothing="no branches yet: `ramet commit BRANCH TEXT`")


@branch.command(examples=["ramet branch create side --from main", "ramet branch create earlier --from main~10"])
@click.argument("name")
@click.option("--from", "start", metavar="BRANCH|HASH", type=references.place, help="Where it begins; else empty.")
@click.pass_obj
def create(invocation: Invocation, name: str, start: str | None) -> None:
    """A new branch. It copies nothing, however long the history."""
    place = find_place(invocation, start) if start else None
    say_where(invocation, invocation.ask(CreateBranch(name=name, from_=place)))


@branch.command(examples=["ramet branch delete side"])
@click.argument("name", type=references.place)
@click.pass_obj
def delete(invocation: Invocation, name: str) -> None:
    """Let go of the name. `ramet undo NAME` brings it back, as long as its commits have not been collected."""
    reply = invocation.ask(DeleteBranch(branch=name))
    say(invocation, reply, f"branch {name} is deleted; `ramet undo {name}` brings it back")


@branch.command(examples=["ramet branch moves main", "ramet branch moves main -n 5"])
@click.argument("name", type=references.place)
@click.option("-n", "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many moves.")
@click.pass_obj
def moves(invocation: Invocation, name: str, limit: int) -> None:
    """The rewrites of a branch, the newest first; `ramet undo` takes them back."""
    reply = invocation.ask(ListMoves(branch=name, limit=limit))
    show_items(invocation, reply, _MOVE_COLUMNS, nothing=f"{name} has only ever been added to")


@branch.command(examples=["ramet branch at main 2026-01-05T08:00:00Z", "ramet branch at main 3f9c2b7a"])
@click.argument("name", type=references.place)
@click.argument("moment", metavar="TIME|HASH")
@click.pass_obj
def at(invocation: Invocation, name: str, moment: str) -> None:
    """Where a branch stood at a time, or at one of its commits."""
    when = {"hash": moment} if references.is_hash(moment) else {"time": moment}
    reply = ask_as_written(invocation, At, {"branch": name, **when})
    say(invocation, reply, _where(reply))


@branch.command(examples=["ramet branch latest", "ramet branch latest session/"])
@click.argument("prefix", required=False)
@click.pass_obj
def latest(invocation: Invocation, prefix: str | None) -> None:
    """The newest root history that was not brought to its end: where to go on after a crash."""
    reply = invocation.ask(ResumeLatest(prefix=prefix))
    where = f"{reply.branch} at {short(reply.hash)}" if reply.branch and reply.hash else reply.branch
    say(invocation, reply, where or "every history was brought to its end")


class _SpawnOptions(TypedDict):
    purpose: str
    inherit: Inheritance
    max_tokens: int | None


@branch.command(
    examples=[
        "ramet branch spawn main research --purpose 'Find out why carts are lost'",
        "ramet branch spawn main tests --purpose 'Write the tests' --inherit full_clone",
        "ramet branch spawn main docs --purpose 'Write it down' --inherit selective --tag decision --last-turns 4",
    ]
)
@click.argument("parent", type=references.place)
@click.argument("child")
@click.option("--purpose", required=True, help="What the child is for.")
@click.option(
    "--inherit",
    type=click.Choice(get_args(Inheritance)),
    default="head_snapshot",
    show_default=True,
    help="The whole history, its compiled text as one instruction, or a selection.",
)
@click.option("--type", "types", multiple=True, help="Select commits of this type; may be repeated.")
@click.option("--tag", "tags", multiple=True, help="Select commits with this tag; may be repeated.")
@click.option("--last-turns", type=click.IntRange(min=0), help="Select the last so many turns of dialogue.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="How large a snapshot may be; the oldest goes first.")
@click.option("--name", help="A name to show.")
@click.pass_obj
def spawn(
    invocation: Invocation,
    /,
    parent: str,
    child: str,
    types: tuple[str, ...],
    tags: tuple[str, ...],
    last_turns: int | None,
    name: str | None,
    **options: Unpack[_SpawnOptions],
) -> None:
    """A history CHILD that comes out of PARENT. The spawn is written into the parent."""
    chosen = Filter(types=list(types) or None, tags=list(tags) or None, last_turns=last_turns)
    reply = invocation.ask(
        Spawn(
            parent=parent,
            child=child,
            filter=None if chosen == Filter() else chosen,
            display_name=name,
            **options,
        )
    )
    say(invocation, reply, f"{child} comes out of {parent} ({reply.inheritance_mode}): {reply.purpose}")


@branch.command(
    examples=[
        "ramet branch collapse research",
        "ramet branch collapse research --text 'Subagent completed: the session expires before the cart is saved.'",
        "ramet branch collapse research --model --target-tokens 300 --review",
    ]
)
@click.argument("child", type=references.place)
@click.option("--text", help="The report; `-` reads it from standard input.")
@click.option("--model", is_flag=True, help="Let a model write the report.")
@click.option("--target-tokens", type=click.IntRange(min=1), help="How long the report may be.")
@click.option("--instructions", help="What else to tell the model.")
@click.option("--review", is_flag=True, help="Only show the report; commit nothing.")
@click.pass_obj
def collapse(
    invocation: Invocation,
    child: str,
    text: str | None,
    model: bool,
    target_tokens: int | None,
    instructions: str | None,
    review: bool,
) -> None:
    """Fold the work of CHILD into its parent as one commit.

    Without --text and --model, the report is the closing words of the child's own last session boundary.
    """
    reply = invocation.ask(
        Collapse(
            child=child,
            text=None if text is None else references.text_or_stdin(text),
            method="model" if model else None,
            target_tokens=target_tokens,
            instructions=instructions,
            auto_commit=not review,
        )
    )
    commit_hash = reply.parent_commit_hash
    head = f"{child} is folded into its parent as {short(commit_hash)}" if commit_hash else "nothing was committed"
    sizes = f"{count(reply.summary_tokens, 'token')} for {reply.source_tokens:,}"
    say(invocation, reply, f"{head} ({sizes})\n\n{reply.summary_text}")


@branch.command(examples=["ramet branch tree main", "ramet branch tree research --json"])
@click.argument("name", type=references.place)
@click.pass_obj
def tree(invocation: Invocation, name: str) -> None:
    """Everything that NAME comes out of, and everything that came out of it."""
    if invocation.as_json:
        return print_json(invocation.ask(Spawns(branch=name)))
    return show_tree(read_tree(invocation, name), name)


@click.command(
    cls=Command,
    examples=[
        "ramet reset main main~1",
        "ramet reset main 3f9c2b7a",
        "ramet reset main side",
    ],
)
@click.argument("name", metavar="BRANCH", type=references.place)
@click.argument("to", metavar="BRANCH|HASH", type=references.place)
@click.pass_obj
def reset(invocation: Invocation, name: str, to: str) -> None:
    """Let a branch point at another place. `ramet undo BRANCH` takes it back."""
    say_where(invocation, invocation.ask(Reset(branch=name, to=find_place(invocation, to))))


def say_where(invocation: Invocation, row: BranchRow, more: str = "") -> None:
    """Where a branch stands now."""
    say(invocation, row, f"branch {_where(row)}{more}")


def _where(row: BranchRow) -> str:
    """A branch and where it stands, in words."""
    if row.hash is None:
        return f"{row.name} is empty"
    return f"{row.name} is at {short(row.hash)}, {count(row.depth, 'commit')}, {count(row.tokens, 'token')}"
