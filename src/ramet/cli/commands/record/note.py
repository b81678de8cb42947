"""`ramet note`: a few words for the log of an effort."""

import uuid

import click

from ramet.cli import callers, references
from ramet.cli.command import Command
from ramet.cli.invocation import Invocation
from ramet.cli.output import say
from ramet.protocol.hooks.notes import AppendLog


@click.command(
    cls=Command,
    examples=["ramet note 'the cart forgets its items'", "ramet note - --effort e12 < found.md"],
)
@click.argument("text")
@click.option("--effort", type=references.effort, help="Whose log. Default: that of the agent that runs this.")
@click.option("--session", type=references.session, help="The session whose effort's log it is.")
@click.pass_obj
def note(invocation: Invocation, text: str, effort: int | None, session: int | str | None) -> None:
    """Write TEXT into the log of an effort, with the time; `-` reads it from standard input.

    The log is a file in the task's directory, `1_PLAN_LOG.md`. An agent that logs shows that it has not lost its way.
    """
    if effort is None and session is None:
        session = callers.find_session(invocation.environ)
        if session is None:
            raise click.UsageError("Say whose log it is: --effort e12, or --session s7; `ramet ps` lists them.")
    reply = invocation.ask(
        AppendLog(
            text=references.text_or_stdin(text),
            session_id=session,
            effort_id=effort,
            idempotency_key=uuid.uuid4().hex,
        )
    )
    say(invocation, reply, f"noted in {reply.path}")
