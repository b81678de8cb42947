"""`ramet pin`, `skip`, `annotate` and `tag`: what is said about a commit. It changes no hash."""

from typing import get_args

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.history_places import find_commit
from ramet.cli.invocation import Invocation
from ramet.cli.output import say
from ramet.cli.screens.commit_lines import short
from ramet.model.history.content import Priority
from ramet.protocol.history.commits import Annotate, Tag

_commit = click.argument("commit_hash", metavar="COMMIT", type=references.place)


@click.command(cls=Command, examples=["ramet pin 3f9c2b7a", "ramet pin main~2"])
@_commit
@click.pass_obj
def pin(invocation: Invocation, commit_hash: str) -> None:
    """Keep a commit within any budget, and out of compression."""
    _annotate(invocation, commit_hash, "pinned")


@click.command(cls=Command, examples=["ramet skip 3f9c2b7a"])
@_commit
@click.pass_obj
def skip(invocation: Invocation, commit_hash: str) -> None:
    """Leave a commit out of what models read; `ramet annotate COMMIT normal` lets them read it again."""
    _annotate(invocation, commit_hash, "skip")


@click.command(cls=Command, examples=["ramet annotate 3f9c2b7a important", "ramet annotate 3f9c2b7a normal"])
@_commit
@click.argument("priority", type=click.Choice(get_args(Priority)))
@click.pass_obj
def annotate(invocation: Invocation, commit_hash: str, priority: Priority) -> None:
    """Say how much a commit matters, in every branch that has it."""
    _annotate(invocation, commit_hash, priority)


@click.command(cls=Command, examples=["ramet tag 3f9c2b7a decision api", "ramet tag 3f9c2b7a --clear"])
@_commit
@click.argument("tags", nargs=-1)
@click.option("--clear", is_flag=True, help="Take all tags away.")
@click.pass_obj
def tag(invocation: Invocation, commit_hash: str, tags: tuple[str, ...], clear: bool) -> None:
    """Set a commit's tags; those that it had before go."""
    if bool(tags) is clear:
        raise click.UsageError("give TAGS, or --clear to take all away.")
    reply = invocation.ask(Tag(hash=find_commit(invocation, commit_hash), tags=list(tags)))
    say(invocation, reply, f"{short(reply.hash)} has the tags: {', '.join(reply.tags) or 'none'}")


def _annotate(invocation: Invocation, commit_hash: str, priority: Priority) -> None:
    reply = invocation.ask(Annotate(hash=find_commit(invocation, commit_hash), priority=priority))
    say(invocation, reply, f"{short(reply.hash)} is marked {reply.priority}: {reply.preview}")
