"""`ramet tree`: which session spawned which, what each does now, and what it cost."""

import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.look.live_screen import Keys, live_screen, reading_keys
from ramet.cli.commands.record.project_scope import Scope, everywhere_option, find_scope
from ramet.cli.invocation import Invocation
from ramet.cli.output import print_json
from ramet.cli.screens.session_tree import draw, is_over, summary
from ramet.cli.screens.styled_lines import Line, as_picture, print_lines, terminal_width
from ramet.errors import BranchNotFound, TaskNotFound
from ramet.model.record.session import Session
from ramet.model.spawn.child import TreeRow
from ramet.protocol.pages import follow
from ramet.protocol.record.sessions import FindSessions
from ramet.protocol.spawn.trees import ShowTree

_EFFORT = re.compile(r"e\d+")
_SESSION = re.compile(r"s\d+|[a-z0-9][a-z0-9._-]*:.+")
_RUN = re.compile(r"r\d+")
_LOOK_SECONDS = 1.0
_SHARE = 5
"""A large tree is read less often: reading takes at most this part of the time."""


class Asked(NamedTuple):
    """What a person wants to see: the trees that a reference leads to, or those of a scope."""

    reference: str | None
    below: bool
    scope: Scope


class Looked(NamedTuple):
    """Some trees, and the sessions in them that the person asked for."""

    rows: list[TreeRow]
    named: set[int]
    scope: Scope


@click.command(
    "tree",
    cls=Command,
    examples=[
        "ramet tree",
        "ramet tree -A",
        "ramet tree s7",
        "ramet tree e12 --below",
        "ramet tree r3 --watch",
        "ramet tree s7 --json",
    ],
)
@click.argument("reference", metavar="[SESSION|EFFORT|RUN|BRANCH|TASK]", required=False)
@click.option(
    "--below", is_flag=True, help="Show only the named session and the sessions below it, not the whole tree."
)
@click.option(
    "-w",
    "--watch",
    is_flag=True,
    help="Keep showing it until every session has ended, or you press q or Ctrl-C; with --json, one document per line.",
)
@everywhere_option()
@click.pass_obj
def tree(invocation: Invocation, reference: str | None, *, below: bool, watch: bool, everywhere: bool) -> None:
    """Show which session spawned which (default: the project's trees with an open session, or else its newest tree).

    Each session is below the one that spawned it. AGENT is the driver, then the reference that other commands take. NOW
    is the newest tool call, then the newest prompt. A wide terminal shows more columns: +BELOW is the cost, or the
    tokens, of a session including all sessions below it.
    """
    if below and reference is None:
        raise click.UsageError("--below needs a session: `ramet tree s7 --below`.")
    scope = Scope.named() if reference else find_scope(invocation, everywhere=everywhere)
    asked = Asked(reference, below, scope)
    return _watch(invocation, asked) if watch else _show(invocation, _look(invocation, asked))


def _look(invocation: Invocation, asked: Asked) -> Looked:
    """The trees that a reference leads to; without one, those with an open session, or else the newest."""
    if asked.reference is not None:
        lookup, rows = _look_up(invocation, asked.reference, below=asked.below)
        return Looked(rows, set(_meant(lookup, rows)), asked.scope)
    trees = [invocation.ask(ShowTree(session_id=root)) for root in find_roots(invocation, asked.scope)]
    return Looked([row for each in trees for row in each.items], set(), asked.scope)


def find_roots(invocation: Invocation, scope: Scope) -> list[int]:
    """The roots of all open sessions, or else the newest root; for an agent, only its own session."""
    if invocation.target.entrance is not None:
        return [own_session(invocation)]
    project = scope.project_id
    sessions = list(_open_sessions(invocation, project)) or _newest(invocation, project)
    return sorted({session.root_session_id for session in sessions})


def own_session(invocation: Invocation) -> int:
    """The session of the agent that runs this."""
    return int(invocation.environ["RAMET_SESSION"])


def _newest(invocation: Invocation, project: int | None) -> Sequence[Session]:
    return invocation.ask(FindSessions(project=project, limit=1)).items


def _open_sessions(invocation: Invocation, project: int | None) -> Iterator[Session]:
    for page in follow(invocation.ask, FindSessions(open=True, project=project)):
        yield from page.items


def _look_up(invocation: Invocation, reference: str, *, below: bool) -> tuple[ShowTree, list[TreeRow]]:
    """A name that could be a branch or a task is a branch, if there is one of that name."""
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
    """The sessions that a person asked for, if they are not the whole tree."""
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
        return click.echo(looked.scope.say("no sessions yet: `ramet work` runs queued efforts"))
    return print_lines(_lines(looked), cut=True)


def _lines(looked: Looked) -> list[Line]:
    lines = draw(looked.rows, looked.named, terminal_width(), projects=_projects(looked))
    return [*lines, [], [(summary(looked.rows), "dim")]] if len(looked.rows) > 1 else lines


def _projects(looked: Looked) -> dict[int, str] | None:
    """How the projects are called, if the rows say theirs."""
    return looked.scope.names if looked.scope.has_column else None


def _watch(invocation: Invocation, asked: Asked) -> None:
    """Show it again and again: on a terminal in the same place, anywhere else whenever something has changed."""
    if invocation.as_json or not sys.stdout.isatty():
        return _print_changes(invocation, _looks(invocation, asked, Keys()))
    invocation.is_working = True
    with reading_keys() as keys, live_screen() as live:
        for looked in _looks(invocation, asked, keys):
            live.update(as_picture([*_lines(looked), [], [("q leaves", "dim")]]), refresh=True)
    return _show(invocation, looked)


def _looks(invocation: Invocation, asked: Asked, keys: Keys) -> Iterator[Looked]:
    """The trees as they are now, until every session in them has ended or the person leaves."""
    while True:
        began = time.monotonic()
        looked = _look(invocation, asked)
        yield looked
        if is_over(looked.rows) or keys.wait(max(_LOOK_SECONDS, (time.monotonic() - began) * _SHARE)):
            return


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
