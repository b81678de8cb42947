"""`ramet tree`: who spawned whom, what each is doing, and what it cost."""

import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.invocation import Invocation
from ramet.cli.output import print_json
from ramet.cli.screens.session_tree import draw, is_over, summary
from ramet.cli.screens.styled_lines import Line, as_picture, print_lines
from ramet.errors import BranchNotFound, TaskNotFound
from ramet.model.record.session import Session
from ramet.model.spawn.child import TreeRow
from ramet.protocol.record.sessions import FindSessions
from ramet.protocol.spawn.trees import ShowTree

_EFFORT = re.compile(r"e\d+")
_SESSION = re.compile(r"s\d+|[a-z0-9][a-z0-9._-]*:.+")
_RUN = re.compile(r"r\d+")
_LOOK_SECONDS = 1.0
_SHARE = 5
"""A tree that is large is looked at less often, so that most of the time nobody is."""


class Looked(NamedTuple):
    """Some trees, and what was asked for in them."""

    rows: list[TreeRow]
    named: set[int]


@click.command(
    "tree",
    cls=Command,
    examples=["ramet tree", "ramet tree s7", "ramet tree e12 --below", "ramet tree r3 --watch", "ramet tree s7 --json"],
)
@click.argument("reference", metavar="[SESSION|EFFORT|RUN|BRANCH|TASK]", required=False)
@click.option("--below", is_flag=True, help="Only what is named and what it spawned, not the whole tree.")
@click.option("-w", "--watch", is_flag=True, help="Go on showing it until all of it has ended; with --json one a line.")
@click.pass_obj
def tree(invocation: Invocation, reference: str | None, below: bool, watch: bool) -> None:
    """Who spawned whom: the tree that SESSION belongs to, found by any of its names; else everything that is going on.

    Each session stands below the one that spawned it. +BELOW is what it used together with all that it spawned.
    """
    if below and reference is None:
        raise click.UsageError("--below needs something to look below of.")
    if watch:
        return _watch(invocation, reference, below=below)
    return _show(invocation, look(invocation, reference, below=below))


def look(invocation: Invocation, reference: str | None, *, below: bool = False) -> Looked:
    """The trees that a reference leads to; without one, those in which something is going on, or else the newest."""
    if reference is not None:
        lookup, rows = _look_up(invocation, reference, below=below)
        return Looked(rows, set(_meant(lookup, rows)))
    trees = [invocation.ask(ShowTree(session_id=root)) for root in find_roots(invocation)]
    return Looked([row for each in trees for row in each.items], set())


def find_roots(invocation: Invocation) -> list[int]:
    """The roots of everything that is going on, or else the newest one; to an agent, only its own session."""
    if invocation.target.token is not None:
        return [own_session(invocation)]
    sessions = list(_open_sessions(invocation)) or invocation.ask(FindSessions()).items[:1]
    return sorted({session.root_session_id for session in sessions})


def own_session(invocation: Invocation) -> int:
    """The session of the agent that runs this."""
    return int(invocation.environ["RAMET_SESSION"])


def _open_sessions(invocation: Invocation) -> Iterator[Session]:
    cursor: int | None = None
    while True:
        page = invocation.ask(FindSessions(open=True, cursor=cursor))
        yield from page.items
        if (cursor := page.next) is None:
            return


def _look_up(invocation: Invocation, reference: str, *, below: bool) -> tuple[ShowTree, list[TreeRow]]:
    """Where a name may be a branch's or a task's, it is a branch's if there is one."""
    first, *others = _lookups(reference, below=below)
    try:
        return first, invocation.ask(first).items
    except BranchNotFound:
        for lookup in others:
            try:
                return lookup, invocation.ask(lookup).items
            except TaskNotFound:
                pass
        raise


def _lookups(reference: str, *, below: bool) -> list[ShowTree]:
    if _SESSION.fullmatch(reference):
        return [ShowTree(session_id=references.session(reference), below=below)]
    if _EFFORT.fullmatch(reference):
        return [ShowTree(effort_id=references.effort(reference), below=below)]
    if _RUN.fullmatch(reference):
        return [ShowTree(run_id=references.run(reference), below=below)]
    task = ShowTree(task_id=references.path(reference), below=below)
    if reference.startswith(("/", ".", "~")) or os.path.isdir(reference):  # noqa: PTH112
        return [task]
    return [ShowTree(branch=reference, below=below), task]


def _meant(lookup: ShowTree, rows: Iterable[TreeRow]) -> Iterator[int]:
    """What was asked for, where that is not all of it."""
    session = lookup.session_id
    for row in rows:
        native = f"{row.driver}:{row.native_id}"
        is_meant = session in (row.id, native) if session else lookup.branch == row.branch
        if is_meant or lookup.effort_id == row.effort_id:
            yield row.id


def _show(invocation: Invocation, looked: Looked) -> None:
    if invocation.as_json:
        return print_json({"items": looked.rows})
    if not looked.rows:
        return click.echo("no sessions yet: `ramet work` runs what is queued")
    return print_lines(_lines(looked), cut=True)


def _lines(looked: Looked) -> list[Line]:
    lines = draw(looked.rows, looked.named)
    return [*lines, [], [(summary(looked.rows), "dim")]] if len(looked.rows) > 1 else lines


def _watch(invocation: Invocation, reference: str | None, *, below: bool) -> None:
    """Look again and again: on a terminal in its place, for anybody else whenever something has changed."""
    if invocation.as_json or not sys.stdout.isatty():
        return _print_changes(invocation, _looks(invocation, reference, below=below))
    from rich.console import Console  # noqa: PLC0415
    from rich.live import Live  # noqa: PLC0415

    console = Console(highlight=False)
    invocation.is_working = True
    with Live(console=console, auto_refresh=False, transient=True, vertical_overflow="ellipsis") as live:
        for looked in _looks(invocation, reference, below=below):
            live.update(as_picture(_lines(looked)), refresh=True)
    return _show(invocation, looked)


def _looks(invocation: Invocation, reference: str | None, *, below: bool) -> Iterator[Looked]:
    """The trees as they are now, until nothing in them is going on."""
    while True:
        began = time.monotonic()
        looked = look(invocation, reference, below=below)
        yield looked
        if is_over(looked.rows):
            return
        time.sleep(max(_LOOK_SECONDS, (time.monotonic() - began) * _SHARE))


def _print_changes(invocation: Invocation, looks: Iterable[Looked]) -> None:
    before: list[TreeRow] | None = None
    for looked in looks:
        if looked.rows == before:
            continue
        if invocation.as_json:
            print_json({"items": looked.rows}, indent=None)
        else:
            click.echo("\n" if before is not None else "", nl=False)
            _show(invocation, looked)
        before = looked.rows
