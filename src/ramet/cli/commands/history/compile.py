"""`ramet compile`: what a model would be given of a branch."""

from typing import get_args

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.history_places import find_start
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count, print_json
from ramet.protocol.history.contexts import Compile, Format, Window


@click.command(
    "compile",
    cls=Command,
    examples=[
        "ramet compile main",
        "ramet compile main --max-tokens 4000 --format openai",
        "ramet compile s7 --first 2 --last 10",
    ],
)
@click.argument("place", metavar="BRANCH|HASH", type=references.place)
@click.option("--max-tokens", type=click.IntRange(min=1), help="How much fits; what is pinned stays whatever it costs.")
@click.option("--format", "form", type=click.Choice(get_args(Format)), default="text", show_default=True)
@click.option("--first", type=click.IntRange(min=0), help="Only so many from the beginning …")
@click.option("--last", type=click.IntRange(min=0), help="… and so many from the end.")
@click.pass_obj
def compile_branch(
    invocation: Invocation, place: str, max_tokens: int | None, form: Format, first: int | None, last: int | None
) -> None:
    """The messages that a model would be given. What is left out of them stays in the branch."""
    window = None if first is None and last is None else Window(first=first or 0, last=last or 0)
    start = find_start(invocation, place)
    reply = invocation.ask(
        Compile(branch=start.branch, hash=start.hash, max_tokens=max_tokens, format=form, window=window)
    )
    if invocation.as_json:
        return print_json(reply)
    if form == "text":
        click.echo(clean("\n\n".join(str(message["content"]) for message in reply.messages)))
    else:
        print_json({"system": reply.system, "messages": reply.messages} if reply.system else reply.messages)
    left_out = f", {count(reply.omitted, 'message')} left out" if reply.omitted else ""
    return click.echo(f"{count(reply.tokens, 'token')}{left_out}, prefix {reply.prefix_hash[:12]}", err=True)
