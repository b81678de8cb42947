"""`ramet note`: add a note to the log of an effort."""

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
@click.option("--effort", type=references.effort, help="The effort whose log to write (default: the calling agent's).")
@click.option("--session", type=references.session, help="Write the log of this session's effort.")
@click.pass_obj
def note(invocation: Invocation, text: str, effort: int | None, session: int | str | None) -> None:
    """Add TEXT with the current time to an effort's log. With `-`, read it from standard input.

    The log is a file in the task's directory, such as `1_PLAN_LOG.md`. A skill can ask for notes: hooks then remind,
    and later block, an agent that makes too many tool calls without one.
    """
    if effort is None and session is None:
        session = callers.find_session(invocation.environ)
        if session is None:
            raise click.UsageError("name the log: --effort e12 or --session s7; `ramet ps` lists both.")
    reply = invocation.ask(
        AppendLog(
            text=references.text_or_stdin(text),
            session_id=session,
            effort_id=effort,
            idempotency_key=uuid.uuid4().hex,
        )
    )
    say(invocation, reply, f"added to {reply.path}")
