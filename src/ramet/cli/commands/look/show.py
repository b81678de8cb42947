"""`ramet show`: anything that a reference names."""

import re

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.history.show import show_commit
from ramet.cli.commands.queue.report import print_output, print_text
from ramet.cli.invocation import Invocation
from ramet.cli.output import paged, print_json
from ramet.cli.screens.effort import show_effort
from ramet.cli.screens.run import show_run
from ramet.cli.screens.session import show_session
from ramet.errors import CommitNotFound, EffortNotFound, NotFound, RunNotFound, SessionNotFound
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
@click.argument("reference", metavar="HASH|BRANCH|EFFORT|SESSION|RUN", type=references.anything)
@click.option("--output", is_flag=True, help="Print only the output of an effort, all of it.")
@click.option("--prompt", is_flag=True, help="Print only the prompt of an effort, exactly as its agent gets it.")
@click.pass_obj
def show(invocation: Invocation, reference: str, output: bool, prompt: bool) -> None:
    """Show anything by its name: a commit, the last commit of a branch, effort e12, session s7 or run r3."""
    with paged(invocation):
        if output:
            print_output(invocation, references.effort(reference))
        elif prompt:
            _print_prompt(invocation, references.effort(reference))
        else:
            _show(invocation, reference)


def _show(invocation: Invocation, reference: str) -> None:
    if _SESSION.fullmatch(reference):
        return _show_session(invocation, reference)
    if _RUN.fullmatch(reference):
        return _show_run(invocation, reference)
    if _EFFORT.fullmatch(reference):
        return _show_effort(invocation, reference)
    return show_commit(invocation, references.place(reference))


def _show_session(invocation: Invocation, reference: str) -> None:
    try:
        show_session(invocation, references.session(reference))
    except SessionNotFound as error:
        raise _missing(SessionNotFound, "session", reference, "ramet session list -A") from error


def _show_run(invocation: Invocation, reference: str) -> None:
    try:
        show_run(invocation, references.run(reference))
    except RunNotFound as error:
        raise _missing(RunNotFound, "run", reference, "ramet runs list --all -A") from error


def _show_effort(invocation: Invocation, reference: str) -> None:
    try:
        return show_effort(invocation, references.effort(reference))
    except EffortNotFound as error:
        missing = _missing(EffortNotFound, "effort", reference, "ramet queue --all -A")
        if not references.is_hash(reference):
            raise missing from error
    try:  # e1234 can also be the start of a hash
        return show_commit(invocation, reference)
    except CommitNotFound as error:
        raise missing from error


def _missing(kind: type[NotFound], noun: str, name: str, command: str) -> NotFound:
    return kind(f"there is no {noun} {name}", field="reference", value=name, fix=f"list what there is: `{command}`")


def _print_prompt(invocation: Invocation, effort_id: int) -> None:
    reply = invocation.ask(WorkPrompt(effort_id=effort_id))
    return print_json(reply) if invocation.as_json else print_text(reply.prompt)
