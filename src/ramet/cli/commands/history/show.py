"""`ramet history show`: one commit."""

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.history_places import find_place
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, paged, print_json
from ramet.cli.screens.commit_lines import Told, note, short, since, summary, title
from ramet.cli.screens.styled_lines import Line, print_lines
from ramet.cli.times import instant
from ramet.protocol.history.commits import CommitDetail, Show


@click.command(cls=Command, examples=["ramet history show 3f9c2b7a", "ramet history show main~2"])
@click.argument("place", metavar="COMMIT|BRANCH", type=references.place)
@click.pass_obj
def show(invocation: Invocation, place: str) -> None:
    """Show a commit and its text; of a branch, its last commit."""
    with paged(invocation):
        show_commit(invocation, place)


def show_commit(invocation: Invocation, place: str) -> None:
    """A commit with everything that it says."""
    row = invocation.ask(Show(hash=find_place(invocation, place)))
    if invocation.as_json:
        return print_json(row)
    told = Told(row, note(row))
    print_lines([title(told, row.branches), *_facts(row), []], cut=False)
    text = summary(told) if told.kind in ("merge", "spawn") else row.text
    return click.echo(clean(text).rstrip("\n"))


def _facts(row: CommitDetail) -> list[Line]:
    counted = f", {row.reported_tokens} as the provider counted" if row.reported_tokens is not None else ""
    facts = {
        "commit": row.hash,
        "parent": row.parent,
        "merges": row.second_parent,
        "edits": row.target,
        "at": f"{instant(row.at)} ({since(row.at)})",
        "tokens": f"{row.tokens}{counted}",
        "replaces": row.compresses and "#{} to #{}; `ramet history expand {}`".format(*row.compresses, short(row.hash)),
        "collapses": row.collapses and f"{row.collapses}; `ramet history expand {short(row.hash)}`",
    }
    return [[(f"{name:<10} ", "dim"), (str(value), "")] for name, value in facts.items() if value]
