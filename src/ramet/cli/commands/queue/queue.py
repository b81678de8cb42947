"""`ramet queue`, `next`, `retry`, `resume` and `drop`: what waits, and what is to become of it."""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TypeVar, get_args

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, clean, print_json, show_items
from ramet.cli.screens.effort_lines import (
    age,
    first_line,
    list_work,
    state,
    waiting_reason,
    waits_for,
)
from ramet.model.record.effort import Lifecycle
from ramet.protocol.operation import Request
from ramet.protocol.record.efforts import EffortReply
from ramet.protocol.replies import Page
from ramet.protocol.work.queue import DropWork, NextWork, ResumeWork, RetryWork, WorkReply

Changed = TypeVar("Changed", bound=EffortReply)

_COLUMNS: Columns[WorkReply] = {
    "EFFORT": lambda row: f"e{row.id}",
    "SKILL": lambda row: row.skill,
    "STATE": state,
    "DRIVER": lambda row: row.driver,
    "WAITS FOR": waits_for,
    "AGE": age,
    "PROMPT": lambda row: first_line(row.prompt),
}
_UNFINISHED: tuple[Lifecycle, ...] = ("active", "queued")


@click.command(cls=Command, examples=["ramet queue", "ramet queue --all", "ramet queue --state finished --limit 10"])
@click.option("--all", "everything", is_flag=True, help="The finished ones too.")
@click.option("--task", metavar="DIR", type=references.path, help="Only of this task.")
@click.option("--state", "lifecycle", type=click.Choice(get_args(Lifecycle)), help="Only those in this state.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many finished ones.")
@click.pass_obj
def queue(invocation: Invocation, everything: bool, task: str | None, lifecycle: Lifecycle | None, limit: int) -> None:
    """What runs and what waits, in the order in which it is claimed; with --all, what is finished, the newest first."""
    wanted = [lifecycle] if lifecycle else get_args(Lifecycle) if everything else _UNFINISHED
    rows: list[WorkReply] = []
    for name in _UNFINISHED:
        if name in wanted:
            rows += sorted(list_work(invocation, state=name, task=task), key=_claim_order)
    if "finished" in wanted:
        rows += islice(list_work(invocation, state="finished", task=task), limit)
    nothing = "nothing is queued: `ramet add PROMPT`" if not lifecycle and not everything else "no such efforts"
    show_items(invocation, Page(items=rows), _COLUMNS, nothing=nothing, cut="PROMPT")


@click.command("next", cls=Command, examples=["ramet next", "ramet next --json"])
@click.pass_obj
def next_work(invocation: Invocation) -> None:
    """The effort that would be claimed next; where there is none, what each waits for."""
    ready = invocation.ask(NextWork())
    waiting = [] if ready else sorted(list_work(invocation, state="queued"), key=_claim_order)
    if invocation.as_json:
        return print_json({"next": ready, "waiting": waiting})
    if ready:
        return click.echo(clean(f"e{ready.id} ({ready.skill}): {first_line(ready.prompt)}"))
    say_waiting(waiting)
    return None


def say_waiting(rows: Sequence[WorkReply]) -> None:
    """Why nothing can be claimed."""
    if not rows:
        return click.echo("nothing is queued: `ramet add PROMPT`")
    for row in rows:
        click.echo(clean(f"e{row.id} ({row.skill}) {waiting_reason(row)}"))
    return None


@click.command(cls=Command, examples=["ramet retry e12", "ramet retry e12 e13"])
@click.argument("efforts", metavar="EFFORT...", nargs=-1, required=True, type=references.effort)
@click.pass_obj
def retry(invocation: Invocation, efforts: tuple[int, ...]) -> None:
    """Queue a fresh copy of each finished EFFORT: a new effort, which knows nothing of the old one's context window."""

    def told(row: WorkReply) -> str:
        return f"e{row.id} queued ({row.skill}), a fresh copy of e{row.retry_of}"

    _change_each(invocation, [RetryWork(effort_id=each) for each in efforts], told)


@click.command(cls=Command, examples=["ramet resume e12"])
@click.argument("efforts", metavar="EFFORT...", nargs=-1, required=True, type=references.effort)
@click.pass_obj
def resume(invocation: Invocation, efforts: tuple[int, ...]) -> None:
    """Queue each finished EFFORT again: the same effort, and where its agent can, the same context window."""

    def told(row: WorkReply) -> str:
        session = row.continues_session_id
        return f"e{row.id} queued ({row.skill}), " + (f"goes on with s{session}" if session else "begins anew")

    _change_each(invocation, [ResumeWork(effort_id=each) for each in efforts], told)


@click.command(cls=Command, examples=["ramet drop e12"])
@click.argument("efforts", metavar="EFFORT...", nargs=-1, required=True, type=references.effort)
@click.pass_obj
def drop(invocation: Invocation, efforts: tuple[int, ...]) -> None:
    """Take each queued EFFORT out of the queue for good. One that runs is ended with `ramet kill`."""
    requests = [DropWork(effort_id=each) for each in efforts]
    _change_each(invocation, requests, lambda row: f"e{row.id} is dropped ({row.skill})")


def _change_each(invocation: Invocation, requests: Sequence[Request[Changed]], tell: Callable[[Changed], str]) -> None:
    """Do them in turn; one that is refused is the last, and what was done before it is said."""
    done: list[Changed] = []
    try:
        for request in requests:
            done.append(invocation.ask(request))
            if not invocation.as_json:
                click.echo(clean(tell(done[-1])))
    finally:
        if invocation.as_json and done:
            print_json(Page(items=done))


def _claim_order(row: WorkReply) -> tuple[bool, int, int]:
    return row.lifecycle == "queued" and row.blocked, -row.priority, row.id
