"""`ramet queue`, `next`, `retry`, `resume` and `drop`: the efforts that run and wait, and what becomes of them."""

import sys
from collections.abc import Callable, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar, get_args

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.queue.parked_hosts import explain_parked_hosts
from ramet.cli.commands.record.held_work import explain, list_reached
from ramet.cli.commands.record.project_scope import Scope, everywhere_option, find_scope
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, print_json, say
from ramet.cli.screens.agent_names import doing, effort_agent
from ramet.cli.screens.effort_lines import (
    age,
    cost,
    dollars,
    first_line,
    list_work,
    state,
    tells_reason,
    waiting_reason,
    waits_for,
)
from ramet.cli.screens.states import status_word, style_of
from ramet.cli.screens.styled_lines import Column, Line, draw_table, plain, print_lines, terminal_width
from ramet.cli.times import ago, database_time, parse_since
from ramet.model.record.agent import FleetMember
from ramet.model.record.effort import Lifecycle
from ramet.protocol.operation import Request
from ramet.protocol.pages import follow
from ramet.protocol.record.agents import FleetStatus
from ramet.protocol.record.efforts import EffortReply
from ramet.protocol.replies import Page
from ramet.protocol.work.hosts import ResumeHost
from ramet.protocol.work.queue import DropWork, ListLost, NextWork, ResumeWork, RetryWork, WorkReply

Changed = TypeVar("Changed", bound=EffortReply)

_UNFINISHED: tuple[Lifecycle, ...] = ("active", "queued")
_NOTHING = "nothing is queued: `ramet add PROMPT`"


class _Shown(NamedTuple):
    """An effort, and its agent if one runs it."""

    effort: WorkReply
    agent: FleetMember | None

    @property
    def word(self) -> str:
        """The state, in the words of `ramet ps` if an agent runs it."""
        word = state(self.effort)
        return status_word(self.agent.status) if word == "running" and self.agent and self.agent.status else word

    @property
    def age(self) -> str | None:
        return age(self.effort) if self.agent is None else ago(self.agent.since)

    @property
    def cost(self) -> str | None:
        return (self.agent and dollars(self.agent.cost_usd, is_estimated=self.agent.is_cost_estimated)) or cost(
            self.effort.usage
        )

    @property
    def now(self) -> Line:
        """What its agent does, what it waits for or why it failed; then its prompt."""
        waiting, effort = waits_for(self.effort), self.effort
        first = self.agent.tool if self.agent else None
        if waiting is not None:
            first = f"after {waiting}" if effort.blocked_by is not None else f"waits for {waiting}"
            first = f"again in {waiting}" if effort.blocked and effort.blocked_by is None else first
        elif tells_reason(effort.skill, effort.outcome):
            first = first_line(effort.reason)
        return doing(first, effort.prompt)


_COLUMNS: list[Column[_Shown]] = [
    Column("AGENT", lambda row: [(effort_agent(row.effort.driver, row.effort.id), "bold")]),
    Column("STATE", lambda row: [(row.word, style_of(row.word))]),
    Column("AGE", lambda row: plain(row.age), is_number=True),
    Column("COST", lambda row: plain(row.cost), is_number=True),
    Column("SKILL", lambda row: plain(row.effort.skill), is_extra=True),
    Column("RUN", lambda row: plain(None if row.effort.run_id is None else f"r{row.effort.run_id}"), is_extra=True),
    Column("TRIES", lambda row: plain(str(row.effort.attempts) if row.effort.attempts > 1 else None), is_extra=True),
    Column("NOW", lambda row: row.now),
]


@click.command(
    cls=Command,
    examples=["ramet queue", "ramet queue --all", "ramet queue -A", "ramet queue --state finished --limit 10"],
)
@click.option("--all", "everything", is_flag=True, help="List finished efforts too.")
@everywhere_option(is_all_taken=True)
@click.option("--task", metavar="DIR", type=references.path, help="List only the efforts of this task.")
@click.option("--state", "lifecycle", type=click.Choice(get_args(Lifecycle)), help="List only efforts in this state.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=50, help="List at most this many finished efforts (default: 50)."
)
@click.pass_obj
def queue(
    invocation: Invocation,
    *,
    everything: bool,
    everywhere: bool,
    task: str | None,
    lifecycle: Lifecycle | None,
    limit: int,
) -> None:
    """List the efforts of this project that run and those that wait, in the order in which they are claimed.

    With --all, finished efforts follow, newest first. AGENT is the driver, then the reference that other commands take.
    AGE is the time since the effort was queued, since its agent started, or since it finished. NOW is what the agent
    does, or what the effort waits for, then its prompt. A wide terminal shows more columns.
    """
    wanted = [lifecycle] if lifecycle else get_args(Lifecycle) if everything else _UNFINISHED
    scope = Scope.named() if task else find_scope(invocation, everywhere=everywhere)
    rows: list[WorkReply] = []
    for name in _UNFINISHED:
        if name in wanted:
            rows += sorted(list_work(invocation, name, task=task, project=scope.project_id), key=_claim_order)
    if "finished" in wanted:
        rows += islice(list_work(invocation, "finished", task=task, project=scope.project_id), limit)
    if invocation.as_json:
        return print_json(Page(items=rows))
    if not rows:
        return click.echo(scope.say("no such efforts" if lifecycle or everything else _NOTHING))
    fleet = (
        {row.effort_id: row for row in invocation.ask(FleetStatus(project=scope.project_id)).items}
        if "active" in wanted
        else {}
    )
    shown = [_Shown(row, fleet.get(row.id)) for row in rows]
    columns = scope.widen(_COLUMNS, lambda row: row.effort.project_id)
    print_lines(draw_table(columns, shown, terminal_width()), cut=True)
    if any(row.lifecycle == "queued" for row in rows):
        say_held(invocation, scope)
    return None


def say_held(invocation: Invocation, scope: Scope) -> None:
    """Say which budgets and hosts keep queued efforts from starting."""
    for line in [*explain(list_reached(invocation, scope), scope), *explain_parked_hosts(invocation)]:
        click.echo(clean(line))


@click.command("next", cls=Command, examples=["ramet next", "ramet next -A", "ramet next --json"])
@everywhere_option("Consider the efforts of every project.")
@click.pass_obj
def next_work(invocation: Invocation, everywhere: bool) -> None:
    """Show the effort of this project that is claimed next, or what each queued effort waits for."""
    scope = find_scope(invocation, everywhere=everywhere)
    ready = invocation.ask(NextWork(project=scope.project_id))
    queued = [] if ready else list_work(invocation, "queued", project=scope.project_id)
    waiting = sorted(queued, key=_claim_order)
    if invocation.as_json:
        return print_json({"next": ready, "waiting": waiting})
    if ready:
        click.echo(clean(f"e{ready.id} ({ready.skill}): {first_line(ready.prompt)}"))
        return say_held(invocation, scope)
    say_waiting(waiting, scope)
    return None


def say_waiting(rows: Sequence[WorkReply], scope: Scope) -> None:
    """Say why nothing can be claimed."""
    if not rows:
        return click.echo(scope.say(_NOTHING))
    for row in rows:
        click.echo(clean(f"e{row.id} ({row.skill}) {waiting_reason(row)}"))
    return None


@click.command(
    cls=Command,
    examples=["ramet retry e12", "ramet retry e12 e13", "ramet retry --failed-since 12h --dry-run"],
)
@click.argument("efforts", metavar="[EFFORT]...", nargs=-1, type=references.effort)
@click.option(
    "--failed-since",
    metavar="TIME",
    help="Retry what failures of hosts have ended since TIME: an age such as 12h or 7d, or a date.",
)
@everywhere_option("With --failed-since, retry the efforts of every project.")
@click.option("--dry-run", is_flag=True, help="With --failed-since, list the efforts and queue nothing.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def retry(
    invocation: Invocation,
    *,
    efforts: tuple[int, ...],
    failed_since: str | None,
    everywhere: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    """Queue a fresh copy of each finished EFFORT, with a new number and a new context window.

    With --failed-since, retry the efforts of this project that did not fail by themselves: no agent could start, or the
    host failed while one ran. Efforts that were retried already, and lines of runs, are left out.
    """
    if bool(efforts) == (failed_since is not None):
        raise click.UsageError("name efforts to retry, or give --failed-since TIME")
    if failed_since is not None:
        lost = _find_lost(invocation, failed_since, find_scope(invocation, everywhere=everywhere))
        if dry_run or not lost:
            return _show_lost(invocation, lost)
        if not yes and not _confirm_retry(invocation, lost):
            return click.echo("nothing was queued", err=True)
        efforts = tuple(row.id for row in lost)
    elif dry_run or everywhere:
        raise click.UsageError("--dry-run and -A belong to --failed-since")

    def told(row: WorkReply) -> str:
        return f"e{row.id} queued ({row.skill}), a fresh copy of e{row.retry_of}"

    return _change_each(invocation, [RetryWork(effort_id=each) for each in efforts], told)


def _find_lost(invocation: Invocation, failed_since: str, scope: Scope) -> list[WorkReply]:
    """What hosts have lost since a time, the oldest first: in the order in which it was queued."""
    try:
        since = parse_since(failed_since, database_time())
    except click.BadParameter as error:
        error.param_hint = "--failed-since"
        raise
    pages = follow(invocation.ask, ListLost(since=since, project=scope.project_id))
    return [row for page in pages for row in page.items][::-1]


def _show_lost(invocation: Invocation, lost: list[WorkReply], *, err: bool = False) -> None:
    if invocation.as_json:
        return print_json(Page(items=lost))
    for row in lost:
        click.echo(clean(f"e{row.id} ({row.skill}): {first_line(row.reason)}"), err=err)
    if not lost:
        click.echo("no effort was ended by a failure of a host since then", err=err)
    return None


def _confirm_retry(invocation: Invocation, lost: list[WorkReply]) -> bool:
    """List the efforts, and ask; whether the person agrees."""
    if invocation.as_json or not sys.stdin.isatty():
        raise click.UsageError("retry asks for confirmation, and there is no terminal; give --yes or --dry-run.")
    _show_lost(invocation, lost, err=True)
    return click.confirm(f"Queue fresh copies ({len(lost)})?", err=True)


@click.command(cls=Command, examples=["ramet resume e12", "ramet resume --host north"])
@click.argument("efforts", metavar="[EFFORT]...", nargs=-1, type=references.effort)
@click.option("--host", metavar="NAME", help="Let a host that claims no efforts claim them again now.")
@click.pass_obj
def resume(invocation: Invocation, efforts: tuple[int, ...], host: str | None) -> None:
    """Queue each finished EFFORT again: the same effort, and the same context window if its agent can resume it.

    With --host, resume a host instead: one on which no agent could start several times in a row, or whose disk was
    nearly full. It also tries again by itself.
    """
    if bool(efforts) == (host is not None):
        raise click.UsageError("name efforts to resume, or a host with --host NAME")
    if host is not None:
        return _resume_host(invocation, host)

    def told(row: WorkReply) -> str:
        session = row.continues_session_id
        return f"e{row.id} queued ({row.skill}), " + (f"continues s{session}" if session else "starts from scratch")

    return _change_each(invocation, [ResumeWork(effort_id=each) for each in efforts], told)


def _resume_host(invocation: Invocation, host: str) -> None:
    reply = invocation.ask(ResumeHost(name=host))
    if reply.already:
        return say(invocation, reply, f"{host} is not parked")
    waited = " ".join(f"e{effort_id}" for effort_id in reply.effort_ids)
    return say(invocation, reply, f"{host} claims efforts again" + (f"; can start: {waited}" if waited else ""))


@click.command(cls=Command, examples=["ramet drop e12"])
@click.argument("efforts", metavar="EFFORT...", nargs=-1, required=True, type=references.effort)
@click.pass_obj
def drop(invocation: Invocation, efforts: tuple[int, ...]) -> None:
    """Take each queued EFFORT out of the queue for good. Stop a running one with `ramet kill`."""
    requests = [DropWork(effort_id=each) for each in efforts]
    _change_each(invocation, requests, lambda row: f"e{row.id} dropped ({row.skill})")


def _change_each(invocation: Invocation, requests: Sequence[Request[Changed]], tell: Callable[[Changed], str]) -> None:
    """Do them in turn. A refused one is the last; those before it were done and are shown."""
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
