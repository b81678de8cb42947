"""`ramet uninstall`: stop the daemon, remove our entries from other programs' files, and ask about what remains."""

import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from ramet.cli.command import Command
from ramet.cli.commands.system.settings_changes import write
from ramet.cli.commands.uninstall.entries import plan_removals
from ramet.cli.commands.uninstall.leftovers import Leftover, find_leftovers
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count, print_json, short_path
from ramet.cli.progress import working
from ramet.client.stop import stop
from ramet.errors import Conflict, DaemonError, Forbidden, RametError
from ramet.installer.changes import Change
from ramet.protocol.record.projects import ListProjects
from ramet.protocol.work.kills import Kill
from ramet.protocol.work.queue import ListWork
from ramet.protocol.work.worktrees import CleanWorktrees

_LOOK_SECONDS = 0.2
_END_SECONDS = 60
"""How long killed agents may take to end."""


class _Known(NamedTuple):
    """What the daemon knows."""

    projects: list[Path]
    running: list[int]
    """The efforts that agents work on."""
    is_asked: bool = False
    """Whether it could be asked: there is a database, and the daemon answers."""
    problem: str | None = None


@click.command(
    cls=Command,
    examples=["ramet uninstall", "ramet uninstall --dry-run", "ramet uninstall --yes --keep-data"],
)
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing.")
@click.option("--keep-data", is_flag=True, help="Keep the database, settings, reports, worktrees and git refs.")
@click.option("--force", is_flag=True, help="Stop running agents.")
@click.option("--yes", is_flag=True, help="Do not ask. Work that exists nowhere else is kept.")
@click.pass_obj
def uninstall(invocation: Invocation, dry_run: bool, keep_data: bool, force: bool, yes: bool) -> None:
    """Remove Ramet from this machine, except for the program itself.

    This removes Ramet's hooks and tools from the settings of agent programs, in every place where they were installed,
    and stops the daemon. Then it asks for each file and folder that remains whether to delete it. Worktrees are cleaned
    up first: work that exists only there becomes a git ref of its repository.
    """
    if invocation.is_agents or "RAMET_SESSION" in invocation.environ:
        raise Forbidden("an agent cannot uninstall Ramet", fix="run `ramet uninstall` in your own terminal")
    if not (yes or dry_run) and (invocation.as_json or not sys.stdin.isatty()):
        raise click.UsageError("uninstall asks before it removes, and there is no terminal; give --yes or --dry-run.")
    known = _ask_daemon(invocation)
    changes, problems = plan_removals(invocation, known.projects)
    if dry_run:
        return _show_plan(invocation, known, changes, problems, keep_data=keep_data)
    _refuse_running(known, is_forced=force)
    report = _Report(invocation)
    for problem in [*filter(None, [known.problem]), *problems]:
        report.tell("problem", problem)
    if changes and not yes and not _agrees_to(invocation, changes):
        return click.echo("nothing was removed", err=True)
    _stop_agents(invocation, known.running)
    if changes:
        write(invocation, changes)
    for change in changes:
        report.tell("removed", f"hooks or tools of {change.vendor} from {short_path(invocation, str(change.file))}")
    if not keep_data and known.is_asked:
        _clean_worktrees(invocation, report, is_sure=yes)
    _stop_daemons(invocation, report)
    if not keep_data:
        _delete(find_leftovers(invocation, known.projects), report, is_sure=yes)
    return report.finish()


class _Report:
    """What was done, as sentences or as one document."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        self._items: list[dict[str, str]] = []

    def tell(self, result: str, what: str) -> None:
        self._items.append({"result": result, "what": what})
        if not self._invocation.as_json:
            click.echo(clean(f"{result}: {what}"))

    def finish(self) -> None:
        if self._invocation.as_json:
            print_json({"items": self._items})
        else:
            click.echo(
                "to remove the program: `pip uninstall ramet`, `pipx uninstall ramet` or `uv tool uninstall ramet`"
            )


def _ask_daemon(invocation: Invocation) -> _Known:
    """What only the daemon knows. If it cannot be asked, the record of installations has to do."""
    database, home = invocation.places.database, invocation.places.home
    if not home.is_dir() or (database is not None and not database.exists()):
        return _Known([], [])
    try:
        projects = [Path(row.path) for row in invocation.ask(ListProjects()).items if row.path]
        active = invocation.ask(ListWork(state="active")).items
    except RametError as error:
        return _Known([], [], problem=f"the daemon cannot be asked: {error.message}")
    running = [row.id for row in active if row.lease_owner]
    return _Known([path for path in projects if path.is_dir()], running, is_asked=True)


def _refuse_running(known: _Known, *, is_forced: bool) -> None:
    if known.running and not is_forced:
        names = " ".join(f"e{effort_id}" for effort_id in known.running)
        raise Conflict(
            f"{count(len(known.running), 'agent')} running: {names}",
            value=names,
            fix=f"wait for them (`ramet ps`), stop them (`ramet kill {names.split()[0]}`), or give --force",
        )


def _agrees_to(invocation: Invocation, changes: Sequence[Change]) -> bool:
    for change in changes:
        click.echo(clean(f"{change.vendor}: {short_path(invocation, str(change.file))}"))
    return click.confirm(f"Remove Ramet's hooks and tools from {count(len(changes), 'file')}?", err=True)


def _stop_agents(invocation: Invocation, efforts: Sequence[int]) -> None:
    for effort_id in efforts:
        invocation.ask(Kill(effort_id=effort_id, reason="Ramet is uninstalled"))
    deadline = time.monotonic() + _END_SECONDS
    while efforts and any(row.lease_owner for row in invocation.ask(ListWork(state="active")).items):
        if time.monotonic() > deadline:
            raise DaemonError(
                f"agents are still running after {_END_SECONDS} seconds", fix="see `ramet ps`, then run this again"
            )
        time.sleep(_LOOK_SECONDS)


def _clean_worktrees(invocation: Invocation, report: _Report, *, is_sure: bool) -> None:
    """Remove the worktrees; git keeps the work that only they have."""
    planned = invocation.ask(CleanWorktrees(dry_run=True)).items
    if not planned or not (is_sure or click.confirm(f"Remove {count(len(planned), 'worktree')}?", err=True)):
        return
    with working(invocation, "cleaning up"):
        done = invocation.ask(CleanWorktrees()).items
    for row in done:
        report.tell("removed" if row.removed else "kept", f"{short_path(invocation, row.path)}: {row.reason}")


def _stop_daemons(invocation: Invocation, report: _Report) -> None:
    """The daemon of each database that has its socket in this home."""
    invocation.forget_connection()
    stopped = invocation.stop_daemon()
    seconds = invocation.configuration.settings.daemon.drain_seconds + _END_SECONDS
    for socket in sorted((invocation.places.home / "run").glob("*.sock")):
        stopped |= stop(str(socket), None, seconds)
    if stopped:
        report.tell("stopped", "the daemon")


def _delete(leftovers: Iterable[Leftover], report: _Report, *, is_sure: bool) -> None:
    for each in list(leftovers):  # found before the first is gone
        agrees = is_sure and not each.is_work
        if not agrees and not is_sure:
            agrees = click.confirm(clean(f"Delete {each.what}?"), err=True)
        if not agrees:
            report.tell("kept", each.what)
            continue
        try:
            each.delete()
        except (OSError, RametError) as error:
            report.tell("kept", f"{each.what}: {error}")
        else:
            report.tell("deleted", each.what)


def _show_plan(
    invocation: Invocation, known: _Known, changes: Sequence[Change], problems: Sequence[str], *, keep_data: bool
) -> None:
    """What would be done. Nothing is."""
    report = _Report(invocation)
    for problem in [*filter(None, [known.problem]), *problems]:
        report.tell("problem", problem)
    for effort_id in known.running:
        report.tell("is running", f"e{effort_id}: needs --force")
    for change in changes:
        report.tell(
            "would remove", f"hooks or tools of {change.vendor} from {short_path(invocation, str(change.file))}"
        )
    report.tell("would stop", "the daemon")
    for each in [] if keep_data else find_leftovers(invocation, known.projects):
        report.tell("would keep" if each.is_work else "would ask about", each.what)
    report.finish()
