"""`ramet daemon`: the process that stays up."""

import os
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from ramet.cli.commands import Group
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, print_fields, print_json, say, show_items
from ramet.cli.progress import working
from ramet.cli.times import duration
from ramet.errors import DaemonUnreachable

_FOLLOW_SECONDS = 0.2


@click.group(cls=Group)
def daemon() -> None:
    """The process that stays up: one for each database, started by the first command that needs it."""


@daemon.command(examples=["ramet daemon start", "ramet --set daemon.idle_exit_seconds=600 daemon start"])
@click.pass_obj
def start(invocation: Invocation) -> None:
    """Start the daemon and return once it answers. Where one runs already, say so."""
    already = _is_running(invocation)
    with invocation.connect(autostart=True) as connection:
        status = connection.call("daemon.status")
    lead = "the daemon is already running" if already else "the daemon is running"
    say(
        invocation,
        {**status, "already": already},
        f"{lead}: pid {status['pid']}, {status['store']}, socket {status['socket']}",
    )


@daemon.command(examples=["ramet daemon stop"])
@click.pass_obj
def stop(invocation: Invocation) -> None:
    """Let the daemon finish what it has, and return when it is gone."""
    with working(invocation, "stopping the daemon"):
        stopped = invocation.stop_daemon()
    say(invocation, {"stopped": stopped}, "the daemon has stopped" if stopped else "no daemon was running")


@daemon.command(examples=["ramet daemon status", "ramet daemon status --json"])
@click.pass_obj
def status(invocation: Invocation) -> None:
    """What the daemon says about itself. Does not start one."""
    with invocation.connect(autostart=False) as connection:
        reply = connection.call("daemon.status")
    if invocation.as_json:
        return print_json(reply)
    seconds, resident = reply.pop("uptime_seconds"), reply.pop("resident_bytes")
    return print_fields({**reply, "uptime": duration(seconds), "memory": f"{resident / 1e6:.0f} MB"})


@daemon.command(examples=["ramet daemon logs", "ramet daemon logs -n 100 --follow"])
@click.option("-n", "--lines", default=20, show_default=True, type=click.IntRange(min=0), help="How many lines.")
@click.option("-f", "--follow", is_flag=True, help="Go on showing lines as they are written.")
@click.pass_obj
def logs(invocation: Invocation, lines: int, follow: bool) -> None:
    """The last lines of the daemon's log."""
    path = invocation.places.log_file
    last = deque(_read_lines(path), maxlen=lines)
    if not follow:
        reply: dict[str, Any] = {"items": list(last), "next": None}
        return _print_lines(invocation, reply, path)
    for line in last:
        click.echo(clean(line))
    for line in _follow(path):
        click.echo(clean(line))
    return None


def _is_running(invocation: Invocation) -> bool:
    try:
        invocation.connect(autostart=False).close()
    except DaemonUnreachable:
        return False
    return True


def _print_lines(invocation: Invocation, reply: dict[str, Any], path: Path) -> None:
    if invocation.as_json or not reply["items"]:
        return show_items(invocation, reply, {}, nothing=f"nothing has been logged yet ({path})")
    for line in reply["items"]:
        click.echo(clean(line))
    return None


def _read_lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            yield from (line.rstrip("\n") for line in file)
    except FileNotFoundError:
        return


def _follow(path: Path) -> Iterator[str]:
    """The lines that are added from now on, also to the file that takes this one's place when it is rotated."""
    position, inode = (path.stat().st_size, path.stat().st_ino) if path.exists() else (0, 0)
    while True:
        time.sleep(_FOLLOW_SECONDS)
        try:
            with path.open("rb") as file:
                found = os.fstat(file.fileno()).st_ino
                position = file.seek(position if found == inode else 0)
                lines = [line for line in file if line.endswith(b"\n")]
                inode, position = found, position + sum(map(len, lines))
        except FileNotFoundError:
            continue
        yield from (line.decode(errors="replace").rstrip("\n") for line in lines)
