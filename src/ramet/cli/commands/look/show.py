"""`ramet show`: whatever a reference names."""

import re

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.history.show import show_commit
from ramet.cli.commands.queue.report import print_output, print_text
from ramet.cli.invocation import Invocation
from ramet.cli.output import print_json
from ramet.cli.screens.effort import show_effort
from ramet.cli.screens.run import show_run
from ramet.cli.screens.session import show_session
from ramet.errors import EffortNotFound
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
    return show_commit(invocation, references.place(reference))


def _print_prompt(invocation: Invocation, effort_id: int) -> None:
    reply = invocation.ask(WorkPrompt(effort_id=effort_id))
    return print_json(reply) if invocation.as_json else print_text(reply.prompt)
