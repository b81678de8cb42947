"""`ramet status-line`: an agent's progress, for the line that its program shows below the prompt."""

import sys
from collections.abc import Mapping

import click

from ramet.cli.command import Command
from ramet.cli.connections import ask
from ramet.cli.invocation import Invocation
from ramet.cli.output import say
from ramet.client.autostart import connect
from ramet.config.places import find_home
from ramet.errors import RametError
from ramet.hooks.program import find_own
from ramet.protocol.hooks.hooks import HookCall
from ramet.vendors import registry


@click.command(cls=Command, examples=["ramet status-line < status.json", 'echo "$json" | ramet status-line'])
@click.pass_obj
def status_line(invocation: Invocation) -> None:
    """Print an agent's progress as `[2:impl:P3]`: the effort, its skill and its phase.

    It reads the JSON that an agent program passes to a status line on standard input. Use it in a status line of your
    own; `ramet hooks install --status-line` installs a faster one. The cost and the context usage in the JSON are kept
    for `ramet ps`. It prints nothing if no daemon is running or the session is unknown.
    """
    text = sys.stdin.buffer.read().decode(errors="replace")
    environ = invocation.environ
    session = environ.get("RAMET_SESSION", "")
    call = HookCall(
        vendor=next(iter(registry.with_status_line())),
        payload=text,
        session=int(session) if session.isdecimal() else None,
        agent=environ.get("RAMET_AGENT") or None,
    )
    try:
        socket, token = _find_way(environ)
        with connect(socket, token=token) as connection:
            line = ask(connection, call).output
    except RametError:  # the line below a prompt is no place for errors
        line = None
    line = line if isinstance(line, str) else ""
    say(invocation, {"line": line}, line)


def _find_way(environ: Mapping[str, str]) -> tuple[str, str | None]:
    """The socket of the daemon that the agent's hooks use, even if the project configures another, and its token."""
    given = environ.get("RAMET_SOCKET")
    if given:
        return given, environ.get("RAMET_TOKEN")
    return str(find_own(environ, find_home(environ)).places.socket), None
