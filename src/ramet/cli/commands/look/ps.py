"""`ramet ps`: every agent and what it does now."""

import sys
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

import click

from ramet.cli.command import Command
from ramet.cli.commands.look.live_screen import Keys, live_screen, reading_keys
from ramet.cli.commands.look.write_ban import say_ban
from ramet.cli.commands.queue.parked_hosts import explain_hosts, list_parked_hosts
from ramet.cli.commands.record.held_work import explain, list_reached
from ramet.cli.commands.record.project_scope import Scope, everywhere_option, find_scope
from ramet.cli.connections import ask
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, print_json
from ramet.cli.screens.agent_names import doing, member_name, project_place
from ramet.cli.screens.effort_lines import dollars, refused_word
from ramet.cli.screens.states import status_word, style_of
from ramet.cli.screens.styled_lines import Column, Line, as_picture, draw_table, plain, print_lines, terminal_width
from ramet.cli.times import ago
from ramet.errors import DaemonStopping, DaemonUnreachable
from ramet.model.record.agent import FleetMember
from ramet.protocol.record.agents import FleetStatus
from ramet.protocol.replies import Page
from ramet.protocol.work.hosts import HostRow

if TYPE_CHECKING:
    from ramet.client.connection import Connection


class Fleet(Page[FleetMember], frozen=True, kw_only=True):
    """The agents that hold an effort, and the hosts that claim none."""

    parked_hosts: list[HostRow]


_IDLE = "no agent is running: `ramet add PROMPT` queues work, `ramet work` runs it"
_NO_DAEMON = "no daemon is running: `ramet daemon start` starts one"
_LOOK_SECONDS = 1.0
_PHASE_WIDTH = 12


@click.command(cls=Command, examples=["ramet ps", "ramet ps -A", "ramet ps --watch", "ramet ps --json"])
@click.option(
    "-w",
    "--watch",
    is_flag=True,
    help="Keep showing it until you press q or Ctrl-C; with --json, one document per line.",
)
@everywhere_option()
@click.pass_obj
def ps(invocation: Invocation, watch: bool, everywhere: bool) -> None:
    """List every agent of this project that holds an effort, and what it does now, no matter who started it.

    AGENT is the driver, then the reference that other commands take: e12 for an effort of the queue, s7 for a session
    that a person started. AGE is the time since the session started. COST is its cost so far; `~` marks an estimate
    from the price table, `-` an unknown cost. NOW is the newest tool call, then the newest prompt; in front of it, how
    many of its calls were refused (`ramet allow e12` lists them). CTX is how full the context window was at the newest
    call. If a daily or project budget is used up, or a host claims no efforts, a line below says so.

    A wide terminal shows more columns. LABEL is the agent's label, or the session's title in its program (`/rename`).
    """
    scope = find_scope(invocation, everywhere=everywhere)
    if watch:
        return _watch(invocation, scope)
    fleet = _join(invocation.ask(FleetStatus(project=scope.project_id)), list_parked_hosts(invocation))
    if invocation.as_json:
        return print_json(fleet)
    _print(invocation, fleet, scope)
    if (ban := say_ban(invocation)) is not None:
        click.echo(clean(f"\nthe database is {ban[0]}\nfix: {ban[1]}"))
    for line in explain(list_reached(invocation, scope), scope):
        click.echo(clean(line))
    return None


def _join(members: Page[FleetMember], hosts: list[HostRow]) -> Fleet:
    return Fleet(items=members.items, next=members.next, parked_hosts=hosts)


def _print(invocation: Invocation, fleet: Fleet, scope: Scope) -> None:
    print_lines(_lines(invocation, fleet, scope), cut=True)
    for line in explain_hosts(fleet.parked_hosts):
        click.echo(clean(line))


def _lines(invocation: Invocation, fleet: Fleet, scope: Scope) -> list[Line]:
    if not fleet.items:
        return [[(line, "")] for line in scope.say(_IDLE).splitlines()]
    rows = sorted(fleet.items, key=lambda row: row.since)
    return draw_table(scope.widen(_columns(invocation), lambda row: row.project_id), rows, terminal_width())


def _columns(invocation: Invocation) -> list[Column[FleetMember]]:
    """Who, in which state, for how long, at what cost, and what it does now; the rest if there is room for it."""
    return [
        Column("AGENT", lambda row: [(member_name(row), "bold")]),
        Column("STATE", _state),
        Column("AGE", lambda row: plain(ago(row.since)), is_number=True),
        Column("COST", lambda row: plain(dollars(row.cost_usd, is_estimated=row.is_cost_estimated)), is_number=True),
        Column("CTX", lambda row: plain(_context(row)), is_number=True, is_extra=True),
        Column("SKILL", lambda row: plain(row.skill), is_extra=True),
        Column("PHASE", lambda row: plain(_phase(row)), is_extra=True),
        Column("LABEL", lambda row: plain(row.label or row.title), is_extra=True),
        Column("SESSION", lambda row: plain(None if row.session_id is None else f"s{row.session_id}"), is_extra=True),
        Column("EFFORT", lambda row: plain(f"e{row.effort_id}"), is_extra=True),
        Column("WHERE", lambda row: plain(project_place(invocation, row.task_id)), is_extra=True),
        Column("NOW", _now),
    ]


def _state(row: FleetMember) -> Line:
    word = "starting" if row.status is None else status_word(row.status)
    return [(word, style_of(word))]


def _now(row: FleetMember) -> Line:
    """What it does; first how many of its calls were refused, because it may do less than it should."""
    refused = refused_word(row.refused)
    return [*([(f"{refused}; ", "yellow")] if refused else []), *doing(_tool(row), row.prompt or row.goal)]


def _context(row: FleetMember) -> str | None:
    return None if row.context_usage is None else f"{row.context_usage:.0%}"


def _phase(row: FleetMember) -> str:
    label = row.current_phase or ""
    return label if len(label) <= _PHASE_WIDTH else f"{label[: _PHASE_WIDTH - 1]}…"


def _tool(row: FleetMember) -> str | None:
    """An agent that waits for a person calls no tool now."""
    return None if row.status == "waiting_person" else row.tool


def _watch(invocation: Invocation, scope: Scope) -> None:
    """Show it again and again: on a terminal in the same place, anywhere else whenever something has changed."""
    if invocation.as_json or not sys.stdout.isatty():
        return _print_changes(invocation, scope)
    invocation.is_working = True
    with reading_keys() as keys, live_screen(is_whole=True) as live:
        for fleet in _fleets(invocation, scope, keys):
            lines = [[(_NO_DAEMON, "")]] if fleet is None else _lines(invocation, fleet, scope)
            if fleet is not None and fleet.parked_hosts:
                lines += [[], *([(clean(line), "yellow")] for line in explain_hosts(fleet.parked_hosts))]
            live.update(as_picture([*lines, [], [("q leaves", "dim")]]), refresh=True)
    return None


def _print_changes(invocation: Invocation, scope: Scope) -> None:
    fleets = _fleets(invocation, scope, Keys())
    if invocation.as_json:  # a program reads about agents: while no daemon is running, nothing is known of them
        for fleet, _ in groupby(fleet for fleet in fleets if fleet is not None):
            print_json(fleet, indent=None)
            sys.stdout.flush()
    for shown, _ in groupby(fleets):
        click.echo(_NO_DAEMON) if shown is None else _print(invocation, shown, scope)
        sys.stdout.flush()


def _fleets(invocation: Invocation, scope: Scope, keys: Keys) -> Iterator[Fleet | None]:
    """The fleet, again and again until `q` is pressed; None while no daemon answers. Only the first look starts a
    daemon: a person who stops it while another one watches wants it to stay stopped.
    """
    connection: Connection | None = invocation.connection
    while True:
        fleet = _look(invocation, connection, scope)
        if fleet is None:
            connection = _connect(invocation)
            fleet = _look(invocation, connection, scope)
        yield fleet
        if keys.wait(_LOOK_SECONDS):
            return


def _look(invocation: Invocation, connection: "Connection | None", scope: Scope) -> Fleet | None:
    try:
        if connection is None:
            return None
        members = ask(connection, FleetStatus(project=scope.project_id))
        return _join(members, list_parked_hosts(invocation, connection))
    except (DaemonUnreachable, DaemonStopping):
        return None


def _connect(invocation: Invocation) -> "Connection | None":
    try:
        return invocation.connect(autostart=False)
    except (DaemonUnreachable, DaemonStopping):
        return None
