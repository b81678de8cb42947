"""`ramet history pin`, `skip`, `annotate` and `tag`: marks on a commit. They change no hash."""

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


@click.command(cls=Command, examples=["ramet history pin 3f9c2b7a", "ramet history pin main~2"])
@_commit
@click.pass_obj
def pin(invocation: Invocation, commit_hash: str) -> None:
    """Keep a commit in every budget and out of every compression."""
    _annotate(invocation, commit_hash, "pinned")


@click.command(cls=Command, examples=["ramet history skip 3f9c2b7a"])
@_commit
@click.pass_obj
def skip(invocation: Invocation, commit_hash: str) -> None:
    """Hide a commit from models; `ramet history annotate COMMIT normal` shows it to them again."""
    _annotate(invocation, commit_hash, "skip")


@click.command(
    cls=Command, examples=["ramet history annotate 3f9c2b7a important", "ramet history annotate 3f9c2b7a normal"]
)
@_commit
@click.argument("priority", type=click.Choice(get_args(Priority)))
@click.pass_obj
def annotate(invocation: Invocation, commit_hash: str, priority: Priority) -> None:
    """Set a commit's priority in every branch that has it."""
    _annotate(invocation, commit_hash, priority)


@click.command(cls=Command, examples=["ramet history tag 3f9c2b7a decision api", "ramet history tag 3f9c2b7a --clear"])
@_commit
@click.argument("tags", nargs=-1)
@click.option("--clear", is_flag=True, help="Remove all tags.")
@click.pass_obj
def tag(invocation: Invocation, commit_hash: str, tags: tuple[str, ...], clear: bool) -> None:
    """Set a commit's tags; this replaces the tags that it had."""
    if bool(tags) is clear:
        raise click.UsageError("give TAGS, or --clear to remove all of them.")
    reply = invocation.ask(Tag(hash=find_commit(invocation, commit_hash), tags=list(tags)))
    say(invocation, reply, f"{short(reply.hash)} has the tags: {', '.join(reply.tags) or 'none'}")


def _annotate(invocation: Invocation, commit_hash: str, priority: Priority) -> None:
    reply = invocation.ask(Annotate(hash=find_commit(invocation, commit_hash), priority=priority))
    say(invocation, reply, f"{short(reply.hash)} is marked {reply.priority}: {reply.preview}")
