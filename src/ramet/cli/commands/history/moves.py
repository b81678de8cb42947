"""`ramet history moves` and `ramet history reset`: how a branch was moved, and moving it."""

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.history.branch import say_where
from ramet.cli.history_places import find_place
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, show_items
from ramet.cli.screens.commit_lines import short, since
from ramet.protocol.history.branches import ListMoves, MoveRow, Reset

_MOVE_COLUMNS: Columns[MoveRow] = {
    "MOVE": lambda row: row.id,
    "WHY": lambda row: row.why,
    "FROM": lambda row: row.old and short(row.old),
    "TO": lambda row: row.new and short(row.new),
    "WHEN": lambda row: since(row.at),
    "UNDONE": lambda row: row.undone,
}


@click.command(cls=Command, examples=["ramet history moves main", "ramet history moves main -n 5"])
@click.argument("name", type=references.place)
@click.option(
    "-n", "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Show at most this many."
)
@click.pass_obj
def moves(invocation: Invocation, name: str, limit: int) -> None:
    """List the rewrites of a branch, newest first; `ramet history undo` undoes them."""
    reply = invocation.ask(ListMoves(branch=name, limit=limit))
    show_items(invocation, reply, _MOVE_COLUMNS, nothing=f"{name} was never rewritten")


@click.command(
    cls=Command,
    examples=[
        "ramet history reset main main~1",
        "ramet history reset main 3f9c2b7a",
        "ramet history reset main side",
    ],
)
@click.argument("name", metavar="BRANCH", type=references.place)
@click.argument("to", metavar="BRANCH|HASH", type=references.place)
@click.pass_obj
def reset(invocation: Invocation, name: str, to: str) -> None:
    """Move a branch to another commit. `ramet history undo BRANCH` moves it back."""
    say_where(invocation, invocation.ask(Reset(branch=name, to=find_place(invocation, to))))
