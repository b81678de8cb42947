"""`ramet history compile`: the messages that a model gets from a branch."""

from collections.abc import Iterator
from typing import get_args

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.history_places import find_start
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count, paged, print_json
from ramet.protocol.history.contexts import Compile, Compiled, Format, Window
from ramet.protocol.pages import follow, join


@click.command(
    "compile",
    cls=Command,
    examples=[
        "ramet history compile main",
        "ramet history compile main --max-tokens 4000 --format openai",
        "ramet history compile s7 --first 2 --last 10",
    ],
)
@click.argument("place", metavar="BRANCH|HASH", type=references.place)
@click.option("--max-tokens", type=click.IntRange(min=1), help="Budget in tokens; pinned commits are always kept.")
@click.option(
    "--format", "form", type=click.Choice(get_args(Format)), default="text", show_default=True, help="Output format."
)
@click.option("--first", type=click.IntRange(min=0), help="Keep only this many messages from the start …")
@click.option("--last", type=click.IntRange(min=0), help="… and this many from the end.")
@click.pass_obj
def compile_branch(
    invocation: Invocation, place: str, max_tokens: int | None, form: Format, first: int | None, last: int | None
) -> None:
    """Print the messages that a model gets from a branch. Messages that are left out stay in the branch."""
    window = None if first is None and last is None else Window(first=first or 0, last=last or 0)
    start = find_start(invocation, place)
    request = Compile(branch=start.branch, hash=start.hash, max_tokens=max_tokens, format=form, window=window)
    pages = follow(invocation.ask, request)
    if form == "text" and not invocation.as_json:
        with paged(invocation):
            reply = _print_texts(pages)
    else:
        reply = join(Compile.op, pages)
        if invocation.as_json:
            return print_json(reply)
        with paged(invocation):
            print_json({"system": reply.system, "messages": reply.messages} if reply.system else reply.messages)
    left_out = f", {count(reply.omitted, 'message')} left out" if reply.omitted else ""
    return click.echo(f"{count(reply.tokens, 'token')}{left_out}, prefix {reply.prefix_hash[:12]}", err=True)


def _print_texts(pages: Iterator[Compiled]) -> Compiled:
    """Print each page as it comes, and give the last one."""
    page = next(pages)
    _print_page(page)
    for page in pages:
        click.echo()
        _print_page(page)
    return page


def _print_page(page: Compiled) -> None:
    click.echo(clean("\n\n".join(str(message["content"]) for message in page.messages)))
