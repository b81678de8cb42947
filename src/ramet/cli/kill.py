"""`ramet kill`: end what runs, with everything that it started."""

import re
import time
from typing import Any

import click

from ramet.cli import references
from ramet.cli.commands import Command
from ramet.cli.inbox import Failed, Happened, Inbox, last_event
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
@click.pass_context
def kill(ctx: click.Context, targets: tuple[dict[str, int | str], ...], reason: str | None) -> None:
    """End each EFFORT that runs, or that of SESSION, with all of its processes, and say what was ended.

    A process is asked first (SIGINT), then told (SIGTERM), then killed (SIGKILL), work.grace_seconds apart. An effort
    that is only queued is cancelled. Exits with 1 where something has not ended in time.
    """
    invocation: Invocation = ctx.obj
    inbox = Inbox()
    connection = invocation.connect(autostart=invocation.configuration.settings.daemon.autostart)
    inbox.follow(connection, last_event(connection))
    killed = [invocation.call("fleet.kill", **target, reason=reason) for target in targets]
    running = {row["id"] for row in killed if row["is_running"]}
    with working(invocation, "ending " + " ".join(f"e{effort_id}" for effort_id in running)):
        ended = _wait(inbox, running, _patience_seconds(invocation))
    rows = [_result(invocation, row, ended) for row in killed]
    if invocation.as_json:
        print_json({"items": rows, "next": None})
    else:
        for row in rows:
            click.echo(clean(_sentence(row)))
    if not all(row["has_ended"] for row in rows):
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


def _result(invocation: Invocation, killed: Row, ended: dict[int, list[Any]]) -> dict[str, Any]:
    """The effort as it is now, and what was ended for it."""
    row = invocation.call("work.get", effort_id=killed["id"])
    has_ended = row["lifecycle"] != "active"
    return {**row, "was_running": killed["is_running"], "has_ended": has_ended, "ended": ended.get(row["id"], [])}


def _sentence(row: Row) -> str:
    name = f"e{row['id']}"
    if not row["has_ended"]:
        return f"{name} is asked to end, and has not yet: `ramet show {name}`"
    if not row["was_running"]:
        return f"{name} is {row['outcome']}: it was not running"
    outcome = row["outcome"] or row["lifecycle"]
    processes = [f"{process['name']} ({process['pid']}, {process['signal']})" for process in row["ended"]]
    return f"{name} is {outcome}: " + (f"ended {', '.join(processes)}" if processes else "no process was left to end")
