"""The daily and project budgets that the configuration sets for a project, as it is on the disk at this moment.

They are read again for every effort, so that a budget that a person raises counts at once. A day is that of this
machine's time zone.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from ramet.config.settings import BudgetSettings, ProjectBudget
from ramet.errors import BudgetExceeded, ConfigError, ProjectNotFound
from ramet.model.record.budget import Bound, BudgetUse, Unit, describe
from ramet.model.record.project import Project, contains
from ramet.protocol.record.daily_budgets import ListBudgets, MeasureBounds
from ramet.protocol.record.projects import ListProjects
from ramet.protocol.record.sessions import GetSession
from ramet.protocol.replies import Page
from ramet.protocol.work.queue import GetWork
from ramet.runner.answers import answers
from ramet.runner.machine import Machine

_UNITS: tuple[tuple[str, Unit], ...] = (("usd", "cost_usd"), ("tokens", "tokens"))


def find(
    machine: Machine,
    project_path: str,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, str] | None = None,
    now: datetime | None = None,
) -> list[Bound]:
    """The budgets that apply to a project."""
    settings = machine.settings_in(project_path, environ, flags).budget
    return list(_list(settings, project_path, (now or machine.now()).astimezone()))


def require_room(machine: Machine, project_path: str, effort_id: int) -> None:
    """Refuse a child if a budget is used up: its parent would wait for it in vain."""
    try:
        bounds = find(machine, project_path)
    except (ConfigError, OSError):
        return
    uses = machine.ask(MeasureBounds(bounds=bounds, effort_id=effort_id)).items if bounds else []
    for use in uses:
        if use.is_reached:
            raise BudgetExceeded(
                describe(use),
                field=use.key,
                value=use.limit,
                fix="finish the work without children; a person can raise the budget with `ramet config set`",
            )


def _list(settings: BudgetSettings, project_path: str, now: datetime) -> Iterator[Bound]:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    # Through the calendar, not by 24 hours: on two days of a year the clocks are changed.
    start = midnight.replace(tzinfo=None).astimezone()
    day = {"since": start, "resets_at": (midnight.replace(tzinfo=None) + timedelta(days=1)).astimezone()}
    own = settings.projects.get(project_path, ProjectBudget())
    for name, unit in _UNITS:
        for_all = getattr(settings, f"daily_{name}")
        if for_all:
            yield Bound(key=f"budget.daily_{name}", is_project=False, unit=unit, limit=for_all, **day)
        daily, key = _lowest(
            (getattr(settings, f"project_daily_{name}"), f"budget.project_daily_{name}"),
            (getattr(own, f"daily_{name}"), "budget.projects"),
        )
        if daily:
            yield Bound(key=key, is_project=True, unit=unit, limit=daily, **day)
        if total := getattr(own, f"total_{name}"):
            yield Bound(key="budget.projects", is_project=True, unit=unit, limit=total)


def _lowest(*limits: tuple[float, str]) -> tuple[float, str]:
    return min(((limit, key) for limit, key in limits if limit), default=(0, ""))


@answers(ListBudgets)
def list_budgets(machine: Machine, request: ListBudgets) -> Page[BudgetUse]:
    """The budgets of the chosen projects, those of all projects once, and what was used of each."""
    found: dict[tuple[object, ...], BudgetUse] = {}
    projects = _choose(machine, request)
    for project in projects:
        path = project.hosts.get(machine.host or "", project.path)
        bounds = find(machine, path)
        if bounds:
            for use in machine.ask(MeasureBounds(bounds=bounds, project=project.id)).items:
                found.setdefault((use.key, use.project_id, use.unit, use.resets_at), use)
    if not projects and (bounds := [each for each in find(machine, "/") if not each.is_project]):
        return machine.ask(MeasureBounds(bounds=bounds))
    return Page(items=list(found.values()))


def _choose(machine: Machine, request: ListBudgets) -> list[Project]:
    project = request.project
    if request.effort_id is not None:
        project = machine.ask(GetWork(effort_id=request.effort_id)).project_id
    elif request.session_id is not None:
        session = machine.ask(GetSession(session_id=request.session_id))
        project = machine.ask(GetWork(effort_id=session.effort_id)).project_id
    known = machine.ask(ListProjects()).items
    if project is None:
        return known
    chosen = [each for each in known if project in (each.id, each.path, *each.hosts.values())]
    if not chosen and isinstance(project, str):
        around = [each for each in known if contains(each.path, project)]
        chosen = [max(around, key=lambda each: len(each.path))] if around else []
    if not chosen:
        raise ProjectNotFound(f"there is no project {project}", field="project", value=project)
    return chosen
