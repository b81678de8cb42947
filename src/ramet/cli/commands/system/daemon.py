"""`ramet daemon`: start, stop and inspect the background process."""

import os
import time
from collections import deque
from pathlib import Path

import click
from msgspec.structs import asdict

from ramet.cli.command import Group
from ramet.cli.commands.look.pauses import show_pauses, summarize_pauses
from ramet.cli.commands.system.health import clock_findings
from ramet.cli.connections import ask
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, print_fields, print_json, say
from ramet.cli.progress import working
from ramet.cli.times import duration
from ramet.client.autostart import connect
from ramet.errors import DaemonStopping, DaemonUnreachable, ReplyUnreadable
from ramet.protocol.system.daemon import DaemonStatus, RotateKey

_FOLLOW_SECONDS = 0.2


@click.group(cls=Group)
def daemon() -> None:
    """Start, stop and inspect the daemon. Each database has one; the first command that needs it starts it."""


@daemon.command(examples=["ramet daemon start", "ramet --set daemon.idle_exit_seconds=600 daemon start"])
@click.pass_obj
def start(invocation: Invocation) -> None:
    """Start the daemon and return when it answers. If it runs already, say so."""
    former = _find_running(invocation)
    with invocation.connect(autostart=True) as connection:
        found = ask(connection, DaemonStatus())
    already = found.pid == former
    lead = "the daemon is already running" if already else "the daemon is running"
    say(
        invocation,
        {**asdict(found), "already": already},
        f"{lead}: pid {found.pid}, {found.store}, socket {found.socket}",
    )


@daemon.command(examples=["ramet daemon stop"])
@click.pass_obj
def stop(invocation: Invocation) -> None:
    """Stop the daemon, and return when it has exited. It finishes its current requests first."""
    with working(invocation, "stopping the daemon"):
        stopped = invocation.stop_daemon()
    say(invocation, {"stopped": stopped}, "the daemon has stopped" if stopped else "no daemon was running")


@daemon.command(examples=["ramet daemon status", "ramet daemon status --json"])
@click.pass_obj
def status(invocation: Invocation) -> None:
    """Show the daemon's state, and the pauses in which requests had to wait. Does not start it."""
    with invocation.connect(autostart=False) as connection:
        found = ask(connection, DaemonStatus())
    if invocation.as_json:
        return print_json(found)
    raw = ("uptime_seconds", "resident_bytes", "loop_pauses", "writer_pauses", "clock")
    fields = {name: value for name, value in asdict(found).items() if name not in raw}
    told = {"uptime": duration(found.uptime_seconds), "memory": f"{found.resident_bytes / 1e6:.0f} MB"}
    if found.clock is not None:
        told["clock"] = clock_findings.describe(found.clock)
    print_fields({**fields, **told, **summarize_pauses(found)})
    return show_pauses(found)


@daemon.command(examples=["ramet daemon rotate-key"])
@click.pass_obj
def rotate_key(invocation: Invocation) -> None:
    """Replace the key of the agents' tokens. Agents that are running keep working, but can no longer call Ramet.

    Use it if a token may have leaked. `ramet db reset` does it as well.
    """
    with invocation.connect(autostart=True) as connection:
        done = ask(connection, RotateKey())
    closed = "1 connection was" if done.disconnected == 1 else f"{done.disconnected} connections were"
    say(invocation, asdict(done), f"the tokens of running agents are no longer valid; {closed} closed")


@daemon.command(examples=["ramet daemon logs", "ramet daemon logs -n 100 --follow"])
@click.option(
    "-n", "--lines", default=20, metavar="N", type=click.IntRange(min=0), help="Show the last N lines (default: 20)."
)
@click.option("-f", "--follow", is_flag=True, help="Keep printing new lines; with --json, one JSON string per line.")
@click.pass_obj
def logs(invocation: Invocation, lines: int, follow: bool) -> None:
    """Show the last lines of the daemon's log."""
    log = LogFile(invocation.places.log_file)
    last = list(deque(log.read_on(), maxlen=lines))
    if invocation.as_json and not follow:
        return print_json({"items": last, "next": None})
    if not last and not follow:
        click.echo(f"the log is empty ({log.path})")
    while True:
        for line in last:
            print_json(line, indent=None) if invocation.as_json else click.echo(clean(line))
        if not follow:
            return None
        time.sleep(_FOLLOW_SECONDS)
        last = log.read_on()


def _find_running(invocation: Invocation) -> int | None:
    """The process of the daemon that is running already, of any build."""
    socket, token = invocation.target.way
    try:
        with connect(socket, token=token) as connection:
            return ask(connection, DaemonStatus()).pid
    except (DaemonUnreachable, DaemonStopping, ReplyUnreadable):
        return None


class LogFile:
    """The log as it grows; if it is rotated, the new file is read from its start."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._inode = 0
        self._position = 0

    def read_on(self) -> list[str]:
        """The whole lines that were added since the last time."""
        try:
            with self.path.open("rb") as file:
                inode = os.fstat(file.fileno()).st_ino
                start = file.seek(self._position if inode == self._inode else 0)
                lines = [line for line in file if line.endswith(b"\n")]
        except FileNotFoundError:
            return []
        self._inode, self._position = inode, start + sum(map(len, lines))
        return [line.decode(errors="replace").rstrip("\n") for line in lines]
