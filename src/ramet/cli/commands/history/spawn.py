"""`ramet history spawn` and `collapse`: start a child branch, and fold its work back into its parent."""

from typing import TypedDict, Unpack, get_args

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.invocation import Invocation
from ramet.cli.output import count, say
from ramet.cli.screens.commit_lines import short
from ramet.protocol.history.child_branches import Collapse, Spawn
from ramet.protocol.history.inheritance import Filter, Inheritance


class _SpawnOptions(TypedDict):
    purpose: str
    inherit: Inheritance
    max_tokens: int | None


@click.command(
    cls=Command,
    examples=[
        "ramet history spawn main research --purpose 'Find out why carts are lost'",
        "ramet history spawn main tests --purpose 'Write the tests' --inherit full_clone",
        "ramet history spawn main docs --purpose 'Write it down' --inherit selective --tag decision --last-turns 4",
    ],
)
@click.argument("parent", type=references.place)
@click.argument("child")
@click.option("--purpose", required=True, help="What the child is for.")
@click.option(
    "--inherit",
    type=click.Choice(get_args(Inheritance)),
    default="head_snapshot",
    show_default=True,
    help="What the child gets: the whole history, its compiled text as one instruction, a selection, or nothing.",
)
@click.option("--type", "types", multiple=True, help="Select commits of this type (repeatable).")
@click.option("--tag", "tags", multiple=True, help="Select commits with this tag (repeatable).")
@click.option("--last-turns", type=click.IntRange(min=0), help="Select this many turns from the end of the dialogue.")
@click.option(
    "--max-tokens",
    type=click.IntRange(min=1),
    help="Largest snapshot, in tokens; the oldest messages are left out first.",
)
@click.option("--name", help="The name to show.")
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
    """Start the branch CHILD from PARENT. The spawn is recorded in the parent."""
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
    say(invocation, reply, f"{child} starts from {parent} ({reply.inheritance_mode}): {reply.purpose}")


@click.command(
    cls=Command,
    examples=[
        "ramet history collapse research",
        "ramet history collapse research --text 'Subagent completed: the session expires before the cart is saved.'",
        "ramet history collapse research --model --target-tokens 300 --review",
    ],
)
@click.argument("child", type=references.place)
@click.option("--text", help="The report; `-` reads standard input.")
@click.option("--model", is_flag=True, help="Let a model write the report.")
@click.option("--target-tokens", type=click.IntRange(min=1), help="Longest report, in tokens.")
@click.option("--instructions", help="More instructions for the model.")
@click.option("--review", is_flag=True, help="Show the report without committing it.")
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

    Without --text and --model, the report is the summary of the child's last session end.
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
