"""`landing.plan` and `landing.add`: what lands, in which order, and what stands in its way."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

from ramet.errors import InvalidParams, LandingRefused, RametError
from ramet.model.landing import landing_message
from ramet.model.landing.landing import Method
from ramet.model.record.effort import NOT_FAILURES
from ramet.protocol.landing.landings import NewLanding, QueueLandings
from ramet.protocol.landing.plans import AddedLandings, AddLandings, LandingPlan, PlanLanding, PlannedLanding
from ramet.protocol.record.efforts import EffortRow
from ramet.protocol.work.attempts import WorkChain
from ramet.protocol.work.queue import GetWork
from ramet.runner.answers import answers
from ramet.runner.landing.checks import Checks, find_checks
from ramet.runner.machine import Machine
from ramet.runner.runs.branches import list_lines
from ramet.vendors import registry
from ramet.workspace.git import candidates, patches, target_moves
from ramet.workspace.git.candidates import Candidate, Work
from ramet.workspace.git.location import locate
from ramet.workspace.git.patches import Sides
from ramet.workspace.git.repository import BRANCHES, Repository, find
from ramet.workspace.worktrees.labels import BRANCH_PREFIX

_TRUSTED_NAMES = frozenset(
    {"ramet.yaml", ".worktreeinclude", ".mcp.json", ".gitattributes", ".gitmodules", ".pre-commit-config.yaml"}
)
_TRUSTED_FOLDERS = frozenset({".githooks", ".husky"})
_HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg", "pre-merge-commit", "post-merge", "reference-transaction")
_FIX_WORK = "name efforts or runs of one project, such as `ramet land e6 e7`"


class _Unit(NamedTuple):
    """A branch to land, with the efforts that worked on it."""

    efforts: Sequence[EffortRow]
    head: str
    needs: Sequence[int]

    @property
    def last(self) -> EffortRow:
        return self.efforts[-1]

    @property
    def ids(self) -> list[int]:
        return [row.id for row in self.efforts]


class _Site(NamedTuple):
    """Where everything lands."""

    project: str
    repository: Repository
    target: str
    tip: str
    method: Method
    checks: Checks
    includes_changes: bool


class _Prepared(NamedTuple):
    """A plan, with the units that it shows."""

    site: _Site
    units: list[_Unit]
    plan: LandingPlan


@answers(PlanLanding)
def plan(machine: Machine, request: PlanLanding) -> LandingPlan:
    """The operation `landing.plan`."""
    return _prepare(machine, request).plan


@answers(AddLandings)
def add(machine: Machine, request: AddLandings) -> AddedLandings:
    """The operation `landing.add`."""
    site, units, planned = _prepare(machine, request)
    if not units:
        left = "; ".join(planned.left_out) or "nothing was named"
        raise LandingRefused(f"there is nothing to land: {left}", fix=_FIX_WORK)
    entries = [
        NewLanding(
            efforts=unit.ids,
            needs=list(unit.needs),
            branch=unit.last.git_branch or "",
            head=unit.head,
            left_out=entry.left_out,
            message=landing_message.compose(
                unit.last.prompt or "", unit.last.output_content, unit.ids, unit.last.run_id
            ),
        )
        for unit, entry in zip(units, planned.entries, strict=True)
    ]
    queued = machine.ask(
        QueueLandings(
            project=site.project,
            host=machine.host or "",
            directory=site.project,
            repository=str(site.repository.common),
            target=site.target,
            method=site.method,
            checks=site.checks.commands,
            entries=entries,
            idempotency_key=request.idempotency_key,
        )
    )
    machine.on_landing()
    return AddedLandings(items=queued.items, plan=planned)


def _prepare(machine: Machine, request: PlanLanding | AddLandings) -> _Prepared:
    left_out: list[str] = []
    units = _order(list(_find_units(machine, request, left_out)))
    if not units:
        raise LandingRefused(f"there is nothing to land: {'; '.join(left_out) or 'nothing was named'}", fix=_FIX_WORK)
    site = _find_site(machine, request, units)
    return _Prepared(site, units, _foresee(machine, site, units, left_out))


def _find_units(machine: Machine, request: PlanLanding | AddLandings, left_out: list[str]) -> Iterator[_Unit]:
    """The branches of everything that is named, each once; why others are left out is added to `left_out`."""
    seen: set[str] = set()
    groups: list[Sequence[EffortRow]] = [
        [machine.ask(GetWork(effort_id=effort_id))] for effort_id in request.effort_ids
    ]
    for run_id in request.run_ids:
        by_branch: dict[str, list[EffortRow]] = {}
        for line in list_lines(machine, run_id):
            by_branch.setdefault(line.git_branch or f"e{line.id}", []).append(line)
        groups += by_branch.values()
    for rows in groups:
        unit, reasons = _as_unit(rows)
        left_out += reasons
        if unit is not None and unit.head not in seen:
            seen.add(unit.head)
            yield unit


def _as_unit(rows: Sequence[EffortRow]) -> tuple[_Unit | None, list[str]]:
    """The efforts of one branch as far as they have succeeded, and why the others are left out."""
    reasons = []
    good: list[EffortRow] = []
    for row in rows:
        if row.lifecycle != "finished":
            reasons.append(f"e{row.id} is {row.lifecycle}")
        elif row.outcome not in NOT_FAILURES:
            reasons.append(f"e{row.id} ended with {row.outcome}")
        elif row.git_head is None or row.git_branch is None:
            reasons.append(f"e{row.id} has no branch")
        elif row.changes is None or row.changes.files:
            good.append(row)
        elif len(rows) == 1:
            reasons.append(f"e{row.id} changed no file")
    if not good or good[-1].git_head is None:
        return None, reasons
    needs = {need for row in good for need in (*(row.depends_on or []), *([row.based_on] if row.based_on else []))}
    return _Unit(good, good[-1].git_head, sorted(needs - {row.id for row in good})), reasons


def _order(units: list[_Unit]) -> list[_Unit]:
    """Each after those that it needs, else in the order in which they were named."""
    by_effort = {row.id: index for index, unit in enumerate(units) for row in unit.efforts}
    graph = {
        index: {by_effort[need] for need in unit.needs if need in by_effort and by_effort[need] != index}
        for index, unit in enumerate(units)
    }
    sorter = TopologicalSorter(graph)
    try:
        sorter.prepare()
    except CycleError:
        raise LandingRefused(
            "these branches need each other, so none of them can land first", fix="land one effort: `ramet land e6`"
        ) from None
    ordered: list[_Unit] = []
    ready: list[int] = []
    while sorter.is_active():
        ready = sorted([*ready, *sorter.get_ready()])
        index = ready.pop(0)
        ordered.append(units[index])
        sorter.done(index)
    return ordered


def _find_site(machine: Machine, request: PlanLanding | AddLandings, units: Sequence[_Unit]) -> _Site:
    places = {machine.ask(WorkChain(effort_id=unit.last.id, host=machine.host)).project_path for unit in units}
    if len(places) > 1:
        raise LandingRefused(f"the work is in several projects: {', '.join(sorted(places))}", fix=_FIX_WORK)
    [project] = places
    repository = find(machine.git, project)
    if repository is None:
        raise LandingRefused(f"{project} is in no git repository", fix="agents changed the directory itself")
    target = request.onto or _find_branch(repository, request.directory)
    if target.startswith(BRANCH_PREFIX):
        raise InvalidParams(
            f"{target} is a branch of Ramet's, on which agents work",
            field="onto",
            value=target,
            fix="name one of your own: `ramet land e6 --onto main`",
        )
    tip = repository.commit(BRANCHES + target) if not target.startswith("-") else None
    if tip is None:
        raise InvalidParams(
            f"there is no branch {target!r} in {repository.checkout}",
            field="onto",
            value=target,
            fix=f"list the branches: git -C {repository.checkout} branch",
        )
    settings = machine.settings_in(project)
    checks = find_checks(machine, repository, project, target, tip)
    if request.checks:
        numbered = enumerate(request.checks, 1)
        named = {f"given {number}": command for number, command in numbered}
        checks = Checks(commands=named, source="--check")
    return _Site(
        project, repository, target, tip, request.method or settings.land.method, checks, request.include_changes
    )


def _find_branch(repository: Repository, directory: str | None) -> str:
    """The branch of the caller's checkout, if it is one of this repository; else of the project's own."""
    location = locate(Path(directory).resolve()) if directory else None
    top = location.top if location and location.common == repository.common else repository.checkout
    full = repository.git.ask(top, "symbolic-ref", "--quiet", "HEAD")
    if full is None or not full.startswith(BRANCHES):
        raise InvalidParams(
            f"{top} is on no branch", field="onto", value=None, fix="name the target: `ramet land e6 --onto main`"
        )
    return full.removeprefix(BRANCHES)


def _foresee(machine: Machine, site: _Site, units: Sequence[_Unit], left_out: list[str]) -> LandingPlan:
    """Make every candidate in turn, as the lander will. What conflicts does not land."""
    tip, entries = site.tip, []
    planned = {row.id for unit in units for row in unit.efforts}
    for unit in units:
        entry, tip = _foresee_one(machine, site, unit, planned, tip)
        entries.append(entry)
    return LandingPlan(
        project=site.project,
        target=site.target,
        tip=site.tip,
        method=site.method,
        entries=entries,
        left_out=left_out,
        checks=site.checks.commands,
        checks_source=site.checks.source,
        notes=list(_list_notes(site)),
    )


def _foresee_one(machine: Machine, site: _Site, unit: _Unit, planned: set[int], tip: str) -> tuple[PlannedLanding, str]:
    repository = site.repository
    git, directory = repository.git, repository.checkout
    if repository.commit(unit.head) is None:
        branch = unit.last.git_branch
        elsewhere = f"commit {unit.head[:8]} of e{unit.last.id} is not in {directory}"
        raise LandingRefused(elsewhere, value=unit.head, fix=f"push {branch} on the machine that has it, and fetch it")
    marked = [] if site.includes_changes else list(_find_marked(machine, unit))
    built = candidates.build(git, directory, tip, Work(unit.head, marked, "Foreseen\n"), site.method)
    base = (git.ask(directory, "merge-base", tip, unit.head) or tip).strip()
    listed = patches.list_files(git, Sides(directory, base, unit.head)).files
    title = landing_message.compose(unit.last.prompt or "", None, unit.ids, None).partition("\n")[0]
    entry = PlannedLanding(
        efforts=unit.ids,
        needs=[need for need in unit.needs if need in planned],
        branch=unit.last.git_branch or "",
        head=unit.head,
        left_out=marked,
        title=title,
        commits=int(git.run(directory, "rev-list", "--count", unit.head, f"^{tip}")),
        files=len(listed),
        insertions=sum(file.insertions or 0 for file in listed),
        deletions=sum(file.deletions or 0 for file in listed),
        conflicts=[] if isinstance(built, Candidate) else built.files,
        trusted_files=list(_list_trusted(path for file in listed for path in (file.path, file.former_path) if path)),
        is_contained=isinstance(built, Candidate) and built.commit == tip,
    )
    return entry, built.commit if isinstance(built, Candidate) else tip


def _find_marked(machine: Machine, unit: _Unit) -> Iterator[str]:
    """The commits of uncommitted changes on which the work was started, the newest first."""
    chain = machine.ask(WorkChain(effort_id=unit.last.id, host=machine.host)).efforts
    rows = [*reversed(unit.efforts), *chain]
    return iter(dict.fromkeys(row.base_changes for row in rows if row.base_changes))


def _list_trusted(paths: Iterable[str]) -> Iterator[str]:
    trusted = _TRUSTED_FOLDERS.union(registry.settings_folders())
    for path in dict.fromkeys(paths):
        *folders, name = path.split("/")
        if name in _TRUSTED_NAMES or not trusted.isdisjoint(folders):
            yield path


def _list_notes(site: _Site) -> Iterator[str]:
    repository = site.repository
    if not site.checks.commands:
        yield "no check is configured, so nothing is tested: add one with --check or `checks:`"
    if site.checks.note:
        yield site.checks.note
    hooks = [name for name in _HOOKS if os.access(repository.common / "hooks" / name, os.X_OK)]
    own = _read_own(repository)
    if "core.hookspath" in own:
        hooks.append(f"those in {own['core.hookspath']}")
    if hooks:
        yield f"git hooks do not run ({', '.join(hooks)}): name what they check under `checks:`"
    if own.get("commit.gpgsign", "false").lower() in ("true", "yes", "on", "1", ""):
        yield "commit.gpgsign is set, and the commits of a landing are not signed"
    try:
        target_moves.require_free(repository, site.target, site.tip, site.tip)
    except RametError as error:
        yield f"{error.message}; nothing lands until then"


def _read_own(repository: Repository) -> Mapping[str, str]:
    """Keys of the repository's own configuration, which Ramet's git does not follow."""
    said = repository.git.run("/", "config", "--file", str(repository.common / "config"), "--list", "-z")
    entries = (entry.partition("\n") for entry in said.split("\0") if entry)
    return {key.lower(): value for key, _, value in entries}
