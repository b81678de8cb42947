"""`ramet handoff`: end a context window, and leave what the next one needs."""

import click

from ramet.cli import callers, references
from ramet.cli.command import Command
from ramet.cli.commands.record.session import show_next
from ramet.cli.invocation import Invocation
from ramet.cli.output import say
from ramet.protocol.hooks.effort_starts import ResumeSession
from ramet.protocol.hooks.handoffs import HandOff


@click.command(
    cls=Command,
    examples=[
        "ramet handoff 'the parser is done' --next 'write its tests' --file src/parser.py",
        "ramet handoff - --session s7 --continue < summary.md",
    ],
)
@click.argument("summary")
@click.option("--session", type=references.session, help="Which one. Default: that of the agent that runs this.")
@click.option("--decision", "decisions", multiple=True, metavar="TEXT", help="What was decided; may be repeated.")
@click.option("--failed", "failed", multiple=True, metavar="TEXT", help="What was tried in vain; may be repeated.")
@click.option("--next", "next_steps", multiple=True, metavar="TEXT", help="What is to be done; may be repeated.")
@click.option(
    "--file", "files", multiple=True, type=references.path, help="What the next one should read; may be repeated."
)
@click.option(
    "--continue", "goes_on", is_flag=True, help="Begin the next one at once, and print what it needs to know."
)
@click.pass_obj
def handoff(
    invocation: Invocation,
    summary: str,
    session: int | str | None,
    decisions: tuple[str, ...],
    failed: tuple[str, ...],
    next_steps: tuple[str, ...],
    files: tuple[str, ...],
    goes_on: bool,
) -> None:
    """End a session with SUMMARY; `-` reads it from standard input.

    The next context window of the same effort is given all of it: when the agent's program starts one, or by
    `ramet session continue`.
    """
    session = session if session is not None else callers.find_session(invocation.environ)
    if session is None:
        raise click.UsageError("Say which session ends: --session s7; `ramet ps` lists them.")
    ended = invocation.ask(
        HandOff(
            session_id=session,
            summary=references.text_or_stdin(summary),
            decisions=list(decisions),
            failed_approaches=list(failed),
            next_steps=list(next_steps),
            required_files=list(files),
        )
    )
    number = ended.session.id
    if not goes_on:
        return say(invocation, ended, f"session s{number} has ended; `ramet session continue s{number}` goes on")
    return show_next(invocation, invocation.ask(ResumeSession(session_id=number)))
