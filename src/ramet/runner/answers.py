"""The operations that the workplace answers, and the functions that do."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from ramet.model.work.driver import DriverRow
from ramet.protocol.operations import Operation
from ramet.protocol.replies import Page
from ramet.protocol.requests import Request
from ramet.protocol.runs import ListParked, ParkedDriver
from ramet.protocol.work import ListDrivers
from ramet.runner.attempts import prompts
from ramet.runner.host import Workplace
from ramet.runner.project_files import (
    directives,
    effort_starts,
    files,
    session_undo,
    skills,
)
from ramet.runner.runs import branches
from ramet.runner.settlement import reports, worktrees
from ramet.vendors import selection


def list_drivers(workplace: Workplace, request: ListDrivers) -> Page[DriverRow]:
    """The operation `drivers.list`."""
    environ = request.environment or workplace.environ
    settings = workplace.settings
    if request.directory is not None:
        settings = workplace.settings_in(request.directory, environ, request.settings)
    rows = selection.installed(settings.drivers, environ, versions=request.versions)
    parked = {each.driver: each for each in workplace.ask(ListParked()).items}
    return Page(items=[_with_parking(row, parked.get(row.name)) for row in rows])


def _with_parking(row: DriverRow, parked: ParkedDriver | None) -> DriverRow:
    return row if parked is None else replace(row, parked_until=parked.until, parked_reason=parked.reason)


WORKPLACE: dict[str, Callable[[Workplace, Any], Any]] = {
    "work.prompt": prompts.answer,
    "drivers.list": list_drivers,
    "report.sync": reports.sync,
    "db.effort.validate": reports.validate,
    "worktree.list": worktrees.list_all,
    "worktree.clean": worktrees.clean,
    "run.branches": branches.list_branches,
    "commands.effort.start": effort_starts.start_effort,
    "commands.session.continue": effort_starts.continue_session,
    "commands.session.undo": session_undo.undo,
    "commands.log.append": effort_starts.append_log,
    "agent.directives.discover": directives.discover,
    "agent.directives.dereference": directives.dereference,
    "agent.directives.resolve": directives.resolve,
    "agent.skills.parse": skills.parse,
    "agent.skills.list": skills.list_all,
    "fs.files.read": files.read,
    "fs.files.append": files.append,
    "fs.paths.resolve": files.resolve,
}


def answer(workplace: Workplace, operation: Operation, request: Request) -> Any:
    """The reply to an operation whose host is the workplace."""
    return WORKPLACE[operation.name](workplace, request)
