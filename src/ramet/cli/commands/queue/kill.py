"""`ramet kill`: end what runs, with everything that it started."""

import re
import time
from typing import Any

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.connections import (
    Failed,
    Happened,
    Inbox,
    last_event,
)
from ramet.cli.invocation import Invocation
from ramet.cli.output import Row, clean, print_json
from ramet.cli.progress import working

_EFFORT = re.compile(r"e?\d+")
_MARGIN_SECONDS = 10


def _reference(text: str) -> dict[str, int | str]:
    if _EFFORT.fullmatch(text):
        return {"effort_id": references.effort(text)}
    return {"session_id": references.session(text)}


@click.command(
    cls=Command, examples=["ramet kill e12", "ramet kill s7 --reason 'the wrong branch'", "ramet kill e3 e4"]
)
@click.argument("targets", metavar="EFFORT|SESSION...", nargs=-1, required=True, type=_reference)
@click.option("--reason", help="Why, for whoever looks at it later.")
@click.option("--keep-children", is_flag=True, help="Let what it spawned go on.")
@click.pass_context
def kill(
    ctx: click.Context, targets: tuple[dict[str, int | str], ...], reason: str | None, keep_children: bool
) -> None:
    """End each EFFORT that runs, or that of SESSION, with its processes and what it spawned, and say what was ended.

    A process is asked first (SIGINT), then told (SIGTERM), then killed (SIGKILL), work.grace_seconds apart. An effort
    that is only queued is cancelled. Exits with 1 where something has not ended in time.
    """
    invocation: Invocation = ctx.obj
    inbox = Inbox()
    connection = invocation.connect(autostart=invocation.configuration.settings.daemon.autostart)
    inbox.follow(connection, last_event(connection))
    below = [[] if keep_children else _unfinished_below(invocation, target) for target in targets]
    killed = [invocation.call("fleet.kill", **target, reason=reason, children=not keep_children) for target in targets]
    running = {row["id"] for row in killed if row["is_running"]}.union(*(row["also"] for row in killed))
    with working(invocation, "ending " + " ".join(f"e{effort_id}" for effort_id in sorted(running))):
        ended = _wait(inbox, running, _patience_seconds(invocation))
    rows = [_result(invocation, row, children, ended) for row, children in zip(killed, below, strict=True)]
    if invocation.as_json:
        print_json({"items": rows, "next": None})
    else:
        for row in rows:
            click.echo(clean(_sentence(row)))
            for child in row["children"]:
                click.echo(clean(f"  below it: {_sentence(child)}"))
    if not all(each["has_ended"] for row in rows for each in [row, *row["children"]]):
        ctx.exit(1)


def _patience_seconds(invocation: Invocation) -> int:
    return invocation.configuration.settings.work.grace_seconds * 3 + _MARGIN_SECONDS


def _wait(inbox: Inbox, running: set[int], seconds: float) -> dict[int, list[Any]]:
    """Until none of the efforts runs; by effort, the processes that had to be ended."""
    ended: dict[int, list[Any]] = {}
    waiting, deadline = set(running), time.monotonic() + seconds
    while waiting and (arrival := inbox.take(deadline - time.monotonic())) is not None:
        if isinstance(arrival, Failed):
            raise arrival.error
        if isinstance(arrival, Happened):
            event = arrival.event
            if event["kind"] == "session.ended":
                ended.setdefault(event["effort_id"], []).extend(event["data"].get("ended") or ())
            elif event["kind"] in ("effort.finished", "effort.requeued"):
                waiting.discard(event["effort_id"])
    return ended


def _unfinished_below(invocation: Invocation, target: dict[str, int | str]) -> list[int]:
    """The efforts that end with the one that is meant, and that one."""
    rows = invocation.call("spawn.tree", **target, below=True)["items"]
    efforts = sorted({row["effort_id"] for row in rows})
    found = invocation.connection.call_many([("work.get", {"effort_id": each}) for each in efforts]) if efforts else []
    return [row["id"] for row in found if row["lifecycle"] != "finished"]


def _result(invocation: Invocation, killed: Row, below: list[int], ended: dict[int, list[Any]]) -> dict[str, Any]:
    """The effort as it is now, what was ended for it, and the same of what it spawned."""
    children = [_look(invocation, each, each in killed["also"], ended) for each in below if each != killed["id"]]
    return {**_look(invocation, killed["id"], killed["is_running"], ended), "children": children}


def _look(invocation: Invocation, effort_id: int, was_running: bool, ended: dict[int, list[Any]]) -> dict[str, Any]:
    row = invocation.call("work.get", effort_id=effort_id)
    has_ended = row["lifecycle"] != "active"
    return {**row, "was_running": was_running, "has_ended": has_ended, "ended": ended.get(row["id"], [])}


def _sentence(row: Row) -> str:
    name = f"e{row['id']}"
    if not row["has_ended"]:
        return f"{name} is asked to end, and has not yet: `ramet show {name}`"
    if not row["was_running"]:
        return f"{name} is {row['outcome']}: it was not running"
    outcome = row["outcome"] or row["lifecycle"]
    processes = [f"{process['name']} ({process['pid']}, {process['signal']})" for process in row["ended"]]
    return f"{name} is {outcome}: " + (f"ended {', '.join(processes)}" if processes else "no process was left to end")
