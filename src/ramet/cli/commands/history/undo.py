"""`ramet undo`: undo a compaction of a session's context, or the rewrites of a branch."""

import re
import shlex
from typing import NamedTuple

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.history.branch import say_where
from ramet.cli.commands.landing.landing_undo import undo_landing
from ramet.cli.invocation import Invocation
from ramet.cli.output import as_builtins, clean, count, print_json
from ramet.config.places import make_private
from ramet.errors import SessionNotFound
from ramet.model.record.session import Session
from ramet.protocol.history.branches import Undo
from ramet.protocol.hooks.compactions import UndoCompaction, Undone
from ramet.vendors.registry import PREFERRED

_SESSION = re.compile(r"s\d+")
_LANDING = re.compile(r"l\d+")
_NATIVE = re.compile(r"[a-z0-9][a-z0-9._-]*:.+")
_LONGEST_ARGUMENT = 100_000
"""Systems limit an argument to 128 KiB; for a longer context the agent gets the name of the file."""


@click.command(
    cls=Command,
    examples=[
        "ramet undo main",
        "ramet undo main --steps 2",
        "ramet undo s7",
        f"ramet undo {PREFERRED[0]}:2f1c0c4e --compaction 1 --print",
        "ramet undo l3",
    ],
)
@click.argument("reference", metavar="BRANCH|SESSION|LANDING", type=references.anything)
@click.option("--steps", type=click.IntRange(min=1), help="Branch only: how many rewrites to undo (default: 1).")
@click.option(
    "--compaction", type=click.IntRange(min=1), help="Session only: which compaction to undo (default: the last)."
)
@click.option("--print", "only_show", is_flag=True, help="Session only: print the context and start nothing.")
@click.pass_obj
def undo(invocation: Invocation, reference: str, steps: int | None, compaction: int | None, only_show: bool) -> None:
    """Undo a session's compaction, the last rewrites of a branch, or a landing.

    For a session: continue with the context from before it was compacted. If Ramet ran the agent, an effort is queued
    with that context as its prompt. If you started the agent yourself, the command that starts the next one is printed.

    For a branch: undo edit, compress, merge, pick, reset or delete, exactly, as `ramet history undo` does.

    For a landing: move the target back to where it was. If something landed after it, or it was pushed, a tested commit
    takes its changes back instead.
    """
    if _LANDING.fullmatch(reference):
        return undo_landing(invocation, references.landing(reference))
    is_session = _SESSION.fullmatch(reference) or _NATIVE.fullmatch(reference)
    if is_session and steps is None:
        try:
            return _undo_compaction(invocation, references.session(reference), compaction, only_show)
        except SessionNotFound:
            if _SESSION.fullmatch(reference):  # a branch may be named as a program names its session
                raise
    if compaction is not None or only_show:
        raise click.UsageError("--compaction and --print are for a session: s7 or driver:native_id.")
    return _undo_rewrite(invocation, references.place(reference), steps or 1)


@click.command("undo", cls=Command, examples=["ramet history undo main", "ramet history undo main --steps 2"])
@click.argument("branch", type=references.place)
@click.option("--steps", type=click.IntRange(min=1), default=1, show_default=True, help="How many rewrites to undo.")
@click.pass_obj
def undo_rewrite(invocation: Invocation, branch: str, steps: int) -> None:
    """Undo the last rewrites of a branch exactly: edit, compress, merge, pick, reset or delete."""
    _undo_rewrite(invocation, branch, steps)


def _undo_rewrite(invocation: Invocation, branch: str, steps: int) -> None:
    say_where(invocation, invocation.ask(Undo(branch=branch, steps=steps)), " again")


class _Start(NamedTuple):
    """How to start the agent of the next session."""

    session: Session
    file: str
    """Where its prompt is."""
    command: str | None
    """None if the agent program is unknown."""


def _undo_compaction(invocation: Invocation, session: int | str, number: int | None, only_show: bool) -> None:
    reply = invocation.ask(UndoCompaction(session_id=session, number=number, only_show=only_show))
    start = None if reply.session is None else _prepare(invocation, reply, reply.session)
    if invocation.as_json:
        more = {} if start is None else {"file": start.file, "command": start.command}
        return print_json({**as_builtins(reply), **more})
    if only_show:
        return click.echo(clean(reply.prompt))
    return click.echo(clean(_tell(reply, start)))


def _prepare(invocation: Invocation, reply: Undone, session: Session) -> _Start:
    file = _write(invocation, f"s{session.id}.md", reply.prompt)
    command = None if reply.driver is None else _command(reply, session, reply.driver, file)
    return _Start(session, file, command)


def _write(invocation: Invocation, name: str, text: str) -> str:
    """Write the prompt to a file that only its owner can read."""
    folder = invocation.places.home / "undo"
    make_private(folder)
    file = folder / name
    file.touch(mode=0o600)
    file.write_text(text, encoding="utf-8")
    return str(file)


def _command(reply: Undone, session: Session, driver: str, file: str) -> str:
    """What starts the agent with it."""
    prompt = f'"$(cat {shlex.quote(file)})"'
    if len(reply.prompt.encode()) > _LONGEST_ARGUMENT:
        prompt = shlex.quote(f"Read {file} whole, from its first line to its last, and do as it says.")
    return f"cd {shlex.quote(reply.directory)} && RAMET_SESSION={session.id} {shlex.quote(driver)} {prompt}"


def _tell(reply: Undone, start: _Start | None) -> str:
    which = f"compaction {reply.compaction.number}, {count(reply.tokens, 'token')}"
    if reply.effort is not None:
        effort = reply.effort
        return f"e{effort.id} queued ({effort.skill}), with the context from before {which}; `ramet work` runs it"
    if start is None:
        return f"no session continues from before {which}"
    session = start.session
    head = f"session s{session.id} continues s{session.prev_session_id} from before {which}"
    if start.command is None:
        return f"{head}. Start its agent with RAMET_SESSION={session.id} and the text of {start.file}"
    return f"{head}. This starts its agent:\n\n  {start.command}"
