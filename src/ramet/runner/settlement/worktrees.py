"""`worktree.list` and `worktree.clean`: the worktrees on this disk, and what the queue says of each."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ramet.errors import EffortNotFound, ProjectNotFound, RametError, RunNotFound
from ramet.model.record.effort import Lifecycle
from ramet.model.record.project import Project, normal_path
from ramet.model.runs.run import Run
from ramet.protocol.fields import ProjectRef
from ramet.protocol.pages import follow
from ramet.protocol.record.efforts import EffortRow
from ramet.protocol.record.projects import ListProjects
from ramet.protocol.replies import Page
from ramet.protocol.runs.runs import GetRun
from ramet.protocol.work.queue import GetWork, ListWork
from ramet.protocol.work.worktrees import CleanedWorktree, CleanWorktrees, ListWorktrees, WorktreeRow
from ramet.runner.answers import answers
from ramet.runner.machine import Machine
from ramet.runner.project_files import starting_points
from ramet.workspace.git.repository import find
from ramet.workspace.worktrees import inventory, starting_point
from ramet.workspace.worktrees.inventory import Found

_NAME = re.compile(r"(?P<kind>[er])(?P<number>\d+)(-\d+)?")
"""Of an effort's own worktree, or of one that the lines of a run share."""


class _Known(NamedTuple):
    """A worktree, and the effort that it belongs to or that still needs it."""

    found: Found
    effort: EffortRow | None
    user: int | None


def owner_of(effort: EffortRow) -> str:
    """What tells an effort from one with the same number in another database, or in a new one."""
    return f"e{effort.id} {effort.created_at.isoformat()}"


def owner_of_run(run: Run) -> str:
    """The same of a run, whose lines share a worktree."""
    return f"r{run.id} {run.created_at.isoformat()}"


@answers(ListWorktrees)
def list_all(machine: Machine, request: ListWorktrees) -> Page[WorktreeRow]:
    """The operation `worktree.list`."""
    projects = machine.ask(ListProjects()).items
    ids = {path: project.id for project in projects for path in (*project.hosts.values(), project.path)}
    return Page(items=[_row(known, ids) for known in _know(machine, request.project)])


@answers(CleanWorktrees)
def clean(machine: Machine, request: CleanWorktrees) -> Page[CleanedWorktree]:
    """The operation `worktree.clean`."""
    known = {str(each.found.top): each for each in _know(machine, request.project)}
    chosen = known if request.paths is None else dict.fromkeys([*map(_plain, request.paths), *_discarded(request)])
    items = []
    for path in chosen:
        each = known.get(path)
        items.append(_clean_one(each, request) if each else _kept(path, "Ramet did not create this worktree"))
    if request.paths is None and not request.dry_run:
        _forget_bases(machine, request.project)
    return Page(items=items)


def _forget_bases(machine: Machine, project: ProjectRef | None) -> None:
    """Remove the refs that kept the commits at which work was to start, if no unfinished work needs them."""
    unfinished = [*list_unfinished(machine, "queued"), *list_unfinished(machine, "active")]
    needed = {commit for row in unfinished if (commit := starting_points.of(row)) is not None}
    for path in project_paths(machine, project):
        with suppress(RametError):  # it is no longer there, or git cannot read it; then nothing is in the way
            repository = find(machine.git, path)
            if repository is not None:
                starting_point.tidy(machine.git, repository.checkout, starting_points.holder(machine), needed)


def _know(machine: Machine, project: ProjectRef | None) -> list[_Known]:
    """The worktrees and their owners. A worktree whose effort is not in this database is left alone."""
    path = None if project is None else _project_path(machine, project)
    users = dict(list_worktree_users(machine))
    known = []
    for found in inventory.list_all(machine.git, machine.places.worktrees, path):
        effort = _effort_of(machine, found)
        user = next((number for used, number in users.items() if _is_below(used, found.top)), None)
        known.append(_Known(found, effort, user))
    return known


def list_worktree_users(machine: Machine) -> Iterator[tuple[str, int]]:
    """Every directory that an unfinished effort uses, or will continue from."""
    for effort in list_unfinished(machine, "queued"):
        if effort.workspace is not None:
            yield effort.workspace, effort.id
        elif effort.worktree is not None:
            yield effort.worktree, effort.id
        elif effort.based_on is not None:
            based = _get(machine, effort.based_on)
            if based is not None and based.worktree is not None:
                yield based.worktree, effort.id
    for effort in list_unfinished(machine, "active"):
        if (used := effort.workspace or effort.worktree) is not None:
            yield used, effort.id


def list_unfinished(machine: Machine, state: Lifecycle) -> Iterator[EffortRow]:
    """The efforts of the queue that run or wait, page after page."""
    for page in follow(machine.ask, ListWork(state=state, limit=machine.settings.limits.page_max)):
        yield from page.items


def _effort_of(machine: Machine, found: Found) -> EffortRow | None:
    """The effort that a worktree was created for, if it is in this database; for a run, that is its last line."""
    match = _NAME.fullmatch(found.top.name)
    if match is None or found.label is None:
        return None
    number = int(match["number"])
    if match["kind"] == "r":
        return _last_line(machine, number, found.label.owner)
    effort = _get(machine, number)
    if effort is None:
        return None
    is_its = found.label.owner == owner_of(effort)
    return effort if is_its or (effort.worktree and _is_below(effort.worktree, found.top)) else None


def _last_line(machine: Machine, run_id: int, owner: str | None) -> EffortRow | None:
    """The line that keeps a run's worktree until it is finished."""
    try:
        run = machine.ask(GetRun(run_id=run_id))
    except RunNotFound:
        return None
    lines = machine.ask(ListWork(run=run_id, limit=1)).items if owner == owner_of_run(run) else []
    return lines[0] if lines else None


def _get(machine: Machine, effort_id: int) -> EffortRow | None:
    try:
        effort = machine.ask(GetWork(effort_id=effort_id))
    except EffortNotFound:
        return None
    return effort


def _row(known: _Known, project_ids: Mapping[str, int]) -> WorktreeRow:
    found = known.found
    registered = found.registered
    project = found.label.project if found.label else None
    return WorktreeRow(
        path=str(found.top),
        project=project,
        project_id=None if project is None else project_ids.get(project),
        branch=found.branch,
        head=registered.head if registered else None,
        effort_id=known.user or (known.effort.id if known.effort else None),
        state="in_use" if known.user else "foreign" if known.effort is None else found.state,
        uncommitted_files=found.uncommitted_files,
        unpushed_commits=found.unpushed_commits,
        bytes=inventory.measure(found.top) if found.top.is_dir() else None,
    )


def _clean_one(known: _Known, request: CleanWorktrees) -> CleanedWorktree:
    found, path = known.found, str(known.found.top)
    if known.user is not None:
        return _kept(path, f"e{known.user} still needs it")
    if known.effort is None or found.state == "foreign":
        return _kept(path, "it belongs to nothing in this database; remove it with `git worktree remove`")
    if known.effort.lifecycle != "finished":
        return _kept(path, f"e{known.effort.id} is {known.effort.lifecycle}")
    discard = path in _discarded(request)
    if request.dry_run:
        return _kept(path, _foretell(found, discard=discard))
    try:
        ref = inventory.remove(found, discard=discard)
    except RametError as error:
        return _kept(path, f"{error.message}; {error.fix}")
    reason = f"its work is kept as {ref}" if ref else "it had no work to keep"
    return CleanedWorktree(
        path=path, removed=True, preserved_ref=ref, reason="its work was discarded" if discard else reason
    )


def _foretell(found: Found, *, discard: bool) -> str:
    if discard:
        return "it would be removed, and its work discarded"
    work = f"{found.uncommitted_files} uncommitted files and {found.unpushed_commits} commits"
    return (
        f"it would be removed, and {work} kept"
        if found.uncommitted_files or found.unpushed_commits
        else ("it would be removed")
    )


def _kept(path: str, reason: str) -> CleanedWorktree:
    return CleanedWorktree(path=path, removed=False, preserved_ref=None, reason=reason)


def _discarded(request: CleanWorktrees) -> list[str]:
    return [_plain(path) for path in request.discard]


def _plain(path: str) -> str:
    return normal_path(path) or path


def project_paths(machine: Machine, ref: ProjectRef | None) -> list[str]:
    """Where the project that is meant is on this machine; without one, where all of them are."""
    if ref is not None:
        return [_project_path(machine, ref)]
    return [_path_here(machine, project) for project in machine.ask(ListProjects()).items]


def _project_path(machine: Machine, ref: ProjectRef) -> str:
    wanted = ref if isinstance(ref, int) else _plain(ref)
    for project in machine.ask(ListProjects()).items:
        if wanted in (project.id, project.path, *project.hosts.values()):
            return _path_here(machine, project)
    raise ProjectNotFound(f"there is no project {ref}", field="project", value=ref)


def _path_here(machine: Machine, project: Project) -> str:
    return project.path if machine.host is None else project.hosts.get(machine.host, project.path)


def _is_below(path: str, top: Path) -> bool:
    return Path(path).is_relative_to(top)
