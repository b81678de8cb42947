"""`ramet show`: whatever a reference names."""

import re

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.queue.report import print_output, print_text
from ramet.cli.history_places import find_place
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, print_json
from ramet.cli.screens.commit_lines import (
    Told,
    note,
    short,
    since,
    summary,
    title,
)
from ramet.cli.screens.effort import show_effort
from ramet.cli.screens.run import show_run
from ramet.cli.screens.session import show_session
from ramet.cli.screens.styled_lines import Line, print_lines
from ramet.cli.times import instant
from ramet.errors import EffortNotFound
from ramet.protocol.history.commits import CommitDetail, Show
from ramet.protocol.work.attempts import WorkPrompt

_EFFORT = re.compile(r"e\d+")
_SESSION = re.compile(r"s\d+")
_RUN = re.compile(r"r\d+")


@click.command(
    cls=Command,
    examples=[
        "ramet show 3f9c2b7a",
        "ramet show main~2",
        "ramet show s7",
        "ramet show e12",
        "ramet show r3",
        "ramet show e12 --output > plan.md",
        "ramet show e13 --prompt",
    ],
)
@click.argument("reference", metavar="HASH|BRANCH|EFFORT|SESSION|RUN")
@click.option("--output", is_flag=True, help="Of an effort: only its output, all of it.")
@click.option("--prompt", is_flag=True, help="Of an effort: only the prompt, exactly as its agent gets it.")
@click.pass_obj
def show(invocation: Invocation, reference: str, output: bool, prompt: bool) -> None:
    """A commit with all that it says; of a branch its head; e12 an effort; s7 a session; r3 a run."""
    if output or prompt:
        effort_id = references.effort(reference)
        return print_output(invocation, effort_id) if output else _print_prompt(invocation, effort_id)
    if _SESSION.fullmatch(reference):
        return show_session(invocation, references.session(reference))
    if _RUN.fullmatch(reference):
        return show_run(invocation, references.run(reference))
    if _EFFORT.fullmatch(reference):
        try:
            return show_effort(invocation, references.effort(reference))
        except EffortNotFound:
            if not references.is_hash(reference):  # e1234 may also be the beginning of a hash
                raise
    place = find_place(invocation, references.place(reference))
    return _show_commit(invocation, invocation.ask(Show(hash=place)))


def _print_prompt(invocation: Invocation, effort_id: int) -> None:
    reply = invocation.ask(WorkPrompt(effort_id=effort_id))
    return print_json(reply) if invocation.as_json else print_text(reply.prompt)


def _show_commit(invocation: Invocation, row: CommitDetail) -> None:
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
        "stands for": row.compresses and "#{} to #{}; `ramet expand {}`".format(*row.compresses, short(row.hash)),
        "collapses": row.collapses and f"{row.collapses}; `ramet expand {short(row.hash)}`",
    }
    return [[(f"{name:<10} ", "dim"), (str(value), "")] for name, value in facts.items() if value]
