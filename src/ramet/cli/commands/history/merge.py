"""`ramet history merge`: merge two histories, or show the conflicts to resolve first."""

from collections.abc import Iterator
from typing import get_args

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.history_places import find_place
from ramet.cli.invocation import Invocation
from ramet.cli.output import count, print_json, say
from ramet.cli.screens.commit_lines import short
from ramet.cli.screens.styled_lines import Line, print_lines
from ramet.errors import EXIT_CONFLICT
from ramet.protocol.history.branches import Conflict, Merge, MergeReply, Strategy
from ramet.protocol.history.commits import Show


@click.command(
    cls=Command,
    examples=[
        "ramet history merge main side",
        "ramet history merge main side --strategy ours",
        "ramet history merge main side --resolve 3f9c2b7a='Both: the account, and the session until then.'",
    ],
)
@click.argument("into", type=references.place)
@click.argument("source", metavar="FROM", type=references.place)
@click.option("--strategy", type=click.Choice(get_args(Strategy)), help="Which side wins a conflict.")
@click.option("--resolve", "resolutions", metavar="HASH=TEXT", multiple=True, help="Resolve one conflict (repeatable).")
@click.pass_context
def merge(ctx: click.Context, into: str, source: str, strategy: Strategy | None, resolutions: tuple[str, ...]) -> None:
    """Merge FROM into the branch INTO. `ramet history undo INTO` undoes it.

    If both sides changed the same commit, nothing is merged: the conflicts are shown, and the exit status is 4.
    """
    invocation: Invocation = ctx.obj
    place = find_place(invocation, source)
    decided = _decisions(invocation, resolutions)
    reply = invocation.ask(Merge(into=into, from_=place, strategy=strategy, resolutions=decided))
    if not reply.conflicts:
        say(invocation, reply, _sentence(reply, into, source))
        return
    if invocation.as_json:
        print_json(reply)
    else:
        print_lines(_conflicts(reply.conflicts, into, source), cut=False)
    ctx.exit(EXIT_CONFLICT)


def _decisions(invocation: Invocation, given: tuple[str, ...]) -> dict[str, str] | None:
    """The texts by the whole hashes of the commits that they are for."""
    decided = {}
    for each in given:
        prefix, equals, text = each.partition("=")
        if not equals:
            raise click.BadParameter(f"{each!r} is not HASH=TEXT", param_hint="--resolve")
        decided[invocation.ask(Show(hash=find_place(invocation, prefix))).hash] = text
    return decided or None


def _sentence(reply: MergeReply, into: str, source: str) -> str:
    if not reply.merged or reply.hash is None:
        return f"{into} already contains {source}"
    return f"{into} is at {short(reply.hash)}, with {count(reply.merged, 'commit')} of {source}"


def _conflicts(conflicts: list[Conflict], into: str, source: str) -> Iterator[Line]:
    yield [(f"{count(len(conflicts), 'conflict')}; nothing was changed", "bold red")]
    for conflict in conflicts:
        what = "both edited it" if conflict.kind == "edit" else "one pinned it, the other skipped it"
        yield [("", "")]
        yield [(short(conflict.target), "yellow"), (f"  {what}", "")]
        yield from _version("before", conflict.base, "dim")
        yield from _version(into, conflict.ours, "red")
        yield from _version(source, conflict.theirs, "green")
    example = short(conflicts[0].target)
    yield [("", "")]
    yield [(f"resolve all with --strategy ours, theirs or both; or one with --resolve {example}=TEXT", "")]


def _version(whose: str, text: str | None, style: str) -> Iterator[Line]:
    if text is not None:
        yield [(f"  {whose}:", style)]
        yield from ([(f"    {line}", style)] for line in text.splitlines() or [""])
