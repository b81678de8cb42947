"""Removing the texts of sessions and runs: ask, mark them, then remove contents step by step."""

import getpass
import sys

import click
from msgspec.structs import replace

from ramet.cli.invocation import Invocation
from ramet.cli.output import count, print_json
from ramet.cli.progress import working
from ramet.protocol.memory.archives import Purged, PurgeRun, PurgeSession
from ramet.protocol.memory.purge_steps import purge_steps

_REASON = "removed by its owner"


def purge_session(invocation: Invocation, reference: int | str, reason: str, *, yes: bool) -> None:
    """Purge a session and those below it."""
    _confirm("Remove the texts of this session and of the sessions below it?", yes=yes)
    request = PurgeSession(session_id=reference, purged_by=getpass.getuser(), reason=reason or _REASON)
    _run(invocation, request)


def purge_run(invocation: Invocation, run_id: int, reason: str, *, yes: bool) -> None:
    """Purge a run and the sessions of its lines."""
    _confirm(f"Remove the texts of r{run_id} and of its sessions?", yes=yes)
    _run(invocation, PurgeRun(run_id=run_id, purged_by=getpass.getuser(), reason=reason or _REASON))


def _run(invocation: Invocation, request: PurgeSession | PurgeRun) -> None:
    with working(invocation, "removing texts"):
        reply = _mark(invocation, request)
        finish(invocation)
    if invocation.as_json:
        return print_json(reply)
    return click.echo(_sentence(reply))


def _mark(invocation: Invocation, request: PurgeSession | PurgeRun) -> Purged:
    """Have all of it purged: one request marks a few sessions."""
    reply: Purged = invocation.ask(request)
    marked = list(reply.session_ids)
    while reply.left:
        reply = invocation.ask(request)
        marked += reply.session_ids
    return replace(reply, session_ids=sorted(marked), already=reply.already and not marked)


def finish(invocation: Invocation) -> None:
    """Remove the contents of everything that is being purged."""
    running = purge_steps()
    request = next(running)
    while True:
        try:
            request = running.send(invocation.ask(request))
        except StopIteration:
            return


def _confirm(question: str, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("purge asks for confirmation, and there is no terminal; give --yes.")
    if not click.confirm(f"{question} This cannot be undone.", err=True):
        click.echo("nothing was changed", err=True)
        raise click.exceptions.Exit(1)


def _sentence(reply: Purged) -> str:
    if reply.already:
        return "its texts were removed before"
    what = ", ".join(f"s{each}" for each in reply.session_ids[:5])
    more = f" and {count(len(reply.session_ids) - 5, 'more session')}" if len(reply.session_ids) > 5 else ""
    runs = "".join(f" r{each}" for each in reply.run_ids)
    told = f"{runs.strip()}{': ' if runs and what else ''}{what}{more}"
    return f"removed the texts of {told}; backups and exported files from before still have them"
