"""`ramet history compress` replaces a range with a summary; `ramet history expand` shows the range again."""

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.history_places import find_commit, find_place
from ramet.cli.invocation import Invocation
from ramet.cli.output import count, print_json, say
from ramet.cli.progress import working
from ramet.cli.screens.commit_lines import one_line, short, tell
from ramet.cli.screens.styled_lines import print_lines
from ramet.protocol.history.child_branches import Expand
from ramet.protocol.history.contexts import Compress, CompressMethod


@click.command(
    cls=Command,
    examples=[
        "ramet history compress main main~20 main~5",
        "ramet history compress main 3f9c2b7a b81d04e6 --text 'They agreed on accounts.'",
        "ramet history compress main 3f9c2b7a b81d04e6 --model --target-tokens 200",
    ],
)
@click.argument("branch", type=references.place)
@click.argument("first", metavar="FROM", type=references.place)
@click.argument("last", metavar="TO", type=references.place)
@click.option("--text", help="The summary; `-` reads standard input.")
@click.option(
    "--extract",
    "method",
    flag_value="extract",
    help="Make the summary from the first words of each message, without a model.",
)
@click.option("--model", "method", flag_value="model", help="Let a model write the summary.")
@click.option("--target-tokens", type=click.IntRange(min=1), help="Longest summary, in tokens.")
@click.pass_obj
def compress(
    invocation: Invocation,
    branch: str,
    first: str,
    last: str,
    text: str | None,
    method: CompressMethod | None,
    target_tokens: int | None,
) -> None:
    """Replace the commits FROM to TO (inclusive) with a summary. `ramet history undo BRANCH` restores them.

    Pinned commits and instructions are kept as they are. Without --text and --model the summary is extracted.
    """
    if text is not None and method is not None:
        raise click.UsageError("give only one of --text, --extract and --model.")
    given = None if text is None else references.text_or_stdin(text)
    first, last = find_commit(invocation, first), find_commit(invocation, last)
    request = Compress(
        branch=branch,
        from_=first,
        to=last,
        text=given,
        method=method or "extract",
        target_tokens=target_tokens,
    )
    with working(invocation, "summarising"):
        reply = invocation.ask(request)
    range_ = f"{short(first)} to {short(last)}"
    sentence = f"{short(reply.hash)} on {branch} replaces {range_}, {count(reply.tokens, 'token')}"
    say(invocation, reply, f"{sentence}; `ramet history undo {branch}` restores them")


@click.command(cls=Command, examples=["ramet history expand 3f9c2b7a"])
@click.argument("place", metavar="HASH|BRANCH", type=references.place)
@click.pass_obj
def expand(invocation: Invocation, place: str) -> None:
    """Show the commits that a summary or a collapse replaced, oldest first."""
    reply = invocation.ask(Expand(hash=find_place(invocation, place)))
    if invocation.as_json:
        return print_json(reply)
    whose = f"the history of {reply.branch}" if reply.kind == "collapse" else "a range"
    click.echo(f"{short(reply.hash)} replaces {whose}, {count(len(reply.commits), 'commit')}:")
    return print_lines((one_line(each, ()) for each in tell(invocation, reply.commits)), cut=True)
