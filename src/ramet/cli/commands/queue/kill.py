"""`ramet kill`: stop running efforts, with all their processes and children."""

import re
import time
from typing import Any, NamedTuple

import click
from msgspec.structs import asdict

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.connections import (
    Failed,
    Happened,
    Inbox,
    last_event,
)
from ramet.cli.exchanges import ask_many
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, print_json
from ramet.cli.progress import working
from ramet.protocol.spawn.trees import ShowTree
from ramet.protocol.work.kills import Kill, Killed
from ramet.protocol.work.queue import GetWork, WorkReply

_EFFORT = re.compile(r"e?\d+")
_MARGIN_SECONDS = 10


EndedProcesses = dict[int, list[dict[str, Any]]]
"""By effort, the processes that were stopped: name, pid and signal."""


class Target(NamedTuple):
    """What to stop: an effort, or the effort of a session."""

    effort_id: int | None = None
    session_id: int | str | None = None


class Ending(NamedTuple):
    """An effort after its stop was requested."""

    effort: WorkReply
    was_running: bool
    processes: list[dict[str, Any]]
    """The processes that were stopped."""
    children: list["Ending"] | None = None
    """The same for the efforts that it spawned; None if it is such a child itself."""

    @property
    def has_ended(self) -> bool:
        return self.effort.lifecycle != "active"

    def as_json(self) -> dict[str, Any]:
        """The document for programs."""
        told = {
            **asdict(self.effort),
            "was_running": self.was_running,
            "has_ended": self.has_ended,
            "ended": self.processes,
        }
        return told if self.children is None else {**told, "children": [child.as_json() for child in self.children]}


def _reference(text: str) -> Target:
    if _EFFORT.fullmatch(text):
        return Target(effort_id=references.effort(text))
    return Target(session_id=references.session(text))


@click.command(
    cls=Command, examples=["ramet kill e12", "ramet kill s7 --reason 'the wrong branch'", "ramet kill e3 e4"]
)
@click.argument("targets", metavar="EFFORT|SESSION...", nargs=-1, required=True, type=_reference)
@click.option("--reason", help="The reason, which is stored with the effort.")
@click.option("--keep-children", is_flag=True, help="Do not stop the efforts that it spawned.")
@click.pass_context
def kill(ctx: click.Context, targets: tuple[Target, ...], reason: str | None, keep_children: bool) -> None:
    """Stop running efforts, with their processes and the efforts that they spawned, and list what was stopped.

    Name each by its EFFORT or SESSION. A process receives SIGINT, then SIGTERM, then SIGKILL, work.grace_seconds apart.
    A queued effort is cancelled. Exits with 1 if something has not stopped in time.
    """
    invocation: Invocation = ctx.obj
    inbox = Inbox()
    connection = invocation.connect(autostart=invocation.configuration.settings.daemon.autostart)
    inbox.follow(connection, last_event(connection))
    below = [[] if keep_children else _unfinished_below(invocation, target) for target in targets]
    killed = [
        invocation.ask(
            Kill(
                effort_id=target.effort_id,
                session_id=target.session_id,
                reason=reason,
                children=not keep_children,
            )
        )
        for target in targets
    ]
    running = {row.id for row in killed if row.is_running}.union(*(row.also for row in killed))
    with working(invocation, "stopping " + " ".join(f"e{effort_id}" for effort_id in sorted(running))):
        processes = _wait(inbox, running, _patience_seconds(invocation))
    endings = [_look(invocation, row, efforts, processes) for row, efforts in zip(killed, below, strict=True)]
    if invocation.as_json:
        print_json({"items": [ending.as_json() for ending in endings], "next": None})
    else:
        for ending in endings:
            click.echo(clean(_sentence(ending)))
            for child in ending.children or ():
                click.echo(clean(f"  child {_sentence(child)}"))
    if not all(each.has_ended for ending in endings for each in [ending, *(ending.children or ())]):
        ctx.exit(1)


def _patience_seconds(invocation: Invocation) -> int:
    return invocation.configuration.settings.work.grace_seconds * 3 + _MARGIN_SECONDS


def _wait(inbox: Inbox, running: set[int], seconds: float) -> EndedProcesses:
    """Until none of the efforts runs; by effort, the processes that were stopped."""
    ended: EndedProcesses = {}
    waiting, deadline = set(running), time.monotonic() + seconds
    while waiting and (arrival := inbox.take(deadline - time.monotonic())) is not None:
        if isinstance(arrival, Failed):
            raise arrival.error
        if isinstance(arrival, Happened) and arrival.event.effort_id is not None:
            event, effort_id = arrival.event, arrival.event.effort_id
            if event.kind == "session.ended":
                ended.setdefault(effort_id, []).extend((event.data or {}).get("ended") or ())
            elif event.kind in ("effort.finished", "effort.requeued"):
                waiting.discard(effort_id)
    return ended


def _unfinished_below(invocation: Invocation, target: Target) -> list[int]:
    """The unfinished efforts below the target, and the target itself."""
    tree = invocation.ask(ShowTree(effort_id=target.effort_id, session_id=target.session_id, below=True))
    efforts = sorted({row.effort_id for row in tree.items})
    found = ask_many(invocation, [GetWork(effort_id=each) for each in efforts])
    return [row.id for row in found if row.lifecycle != "finished"]


def _look(invocation: Invocation, killed: Killed, below: list[int], processes: EndedProcesses) -> Ending:
    """The effort as it is now, its stopped processes, and the same for the efforts that it spawned."""

    def look(effort_id: int, *, was_running: bool) -> Ending:
        effort = invocation.ask(GetWork(effort_id=effort_id))
        return Ending(effort, was_running, processes.get(effort.id, []))

    children = [look(each, was_running=each in killed.also) for each in below if each != killed.id]
    return look(killed.id, was_running=killed.is_running)._replace(children=children)


def _sentence(ending: Ending) -> str:
    effort, name = ending.effort, f"e{ending.effort.id}"
    if not ending.has_ended:
        return f"{name} is still running, although its stop was requested: `ramet show {name}`"
    if not ending.was_running:
        return f"{name} is {effort.outcome}: it was not running"
    outcome = effort.outcome or effort.lifecycle
    processes = [f"{process['name']} ({process['pid']}, {process['signal']})" for process in ending.processes]
    return f"{name} is {outcome}: " + (f"stopped {', '.join(processes)}" if processes else "no process was left")
