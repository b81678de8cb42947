"""`ramet show`: whatever a reference names."""

import re

import click

from ramet.cli import references
from ramet.cli.commands import Command
from ramet.cli.commits import Told, note, short, since, summary, title
from ramet.cli.invocation import Invocation
from ramet.cli.lines import Line, print_lines
from ramet.cli.output import Row, clean, print_json, show_row
from ramet.cli.places import find_place
from ramet.errors import EffortNotFound

_EFFORT = re.compile(r"e\d+")
_SESSION = re.compile(r"s\d+")


@click.command(
    cls=Command,
    examples=["ramet show 3f9c2b7a", "ramet show main", "ramet show main~2", "ramet show e12", "ramet show s7"],
)
@click.argument("reference", metavar="HASH|BRANCH|EFFORT|SESSION")
@click.pass_obj
def show(invocation: Invocation, reference: str) -> None:
    """A commit with all that it says; of a branch its head; e12 an effort; s7 a session."""
    if _SESSION.fullmatch(reference):
        return show_row(invocation, invocation.call("db.session.get", session_id=references.session(reference)))
    if _EFFORT.fullmatch(reference):
        try:
            return show_row(invocation, invocation.call("db.effort.get", effort_id=references.effort(reference)))
        except EffortNotFound:
            if not references.is_hash(reference):  # e1234 may also be the beginning of a hash
                raise
    return _show_commit(
        invocation, invocation.call("history.show", hash=find_place(invocation, references.place(reference)))
    )


def _show_commit(invocation: Invocation, row: Row) -> None:
    if invocation.as_json:
        return print_json(row)
    told = Told(row, note(row))
    print_lines([title(told, row["branches"]), *_facts(row), []], cut=False)
    text = summary(told) if told.kind in ("merge", "spawn") else row["text"]
    return click.echo(clean(text).rstrip("\n"))


def _facts(row: Row) -> list[Line]:
    counted = f", {row['reported_tokens']} as the provider counted" if row["reported_tokens"] is not None else ""
    facts = {
        "commit": row["hash"],
        "parent": row["parent"],
        "merges": row["second_parent"],
        "edits": row["target"],
        "at": f"{row['at'][:19]}Z ({since(row['at'])})",
        "tokens": f"{row['tokens']}{counted}",
        "stands for": row["compresses"]
        and "#{} to #{}; `ramet expand {}`".format(*row["compresses"], short(row["hash"])),
        "collapses": row["collapses"] and f"{row['collapses']}; `ramet expand {short(row['hash'])}`",
    }
    return [[(f"{name:<10} ", "dim"), (str(value), "")] for name, value in facts.items() if value]
