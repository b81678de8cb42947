"""`ramet handoff`: end a session, and leave a summary for the next one."""

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
@click.option("--session", type=references.session, help="The session to end (default: the calling agent's).")
@click.option("--decision", "decisions", multiple=True, metavar="TEXT", help="A decision that was made (repeatable).")
@click.option("--failed", "failed", multiple=True, metavar="TEXT", help="An approach that failed (repeatable).")
@click.option("--next", "next_steps", multiple=True, metavar="TEXT", help="A next step (repeatable).")
@click.option(
    "--file",
    "files",
    multiple=True,
    type=references.path,
    help="A file that the next session should read (repeatable).",
)
@click.option("--continue", "goes_on", is_flag=True, help="Start the next session at once, and print its briefing.")
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
    """End a session and leave SUMMARY for the next one. With `-`, read it from standard input.

    The next session of the same effort receives all of it, either when the agent program starts one or with
    `ramet session continue`.
    """
    session = session if session is not None else callers.find_session(invocation.environ)
    if session is None:
        raise click.UsageError("name the session to end: --session s7; `ramet ps` lists sessions.")
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
        return say(
            invocation, ended, f"session s{number} has ended; `ramet session continue s{number}` starts the next one"
        )
    return show_next(invocation, invocation.ask(ResumeSession(session_id=number)))
