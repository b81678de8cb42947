"""What is read from the disk before work is added: the files of its skills, and the commit at which it starts.

The base is found when work is added and not when it runs: by then the user may be on another branch.
"""

from pathlib import Path
from typing import Any

from ramet.errors import Forbidden, GitFailed, InvalidParams, RametError, SessionNotFound, WorktreeError
from ramet.model.record.budget import Limit
from ramet.protocol.operation import Request
from ramet.protocol.record.sessions import GetSession
from ramet.protocol.record.skills import SkillDefinition
from ramet.protocol.record.starting_points import StartAt, StartingPoint
from ramet.protocol.runs.runs import StartRun
from ramet.protocol.spawn.children import ChildLimits, SpawnAgent, SpawnAgents
from ramet.protocol.work.queue import AddWork, GetWork
from ramet.runner.budgets import budget_prices, daily_budgets
from ramet.runner.budgets.budget_prices import Runs
from ramet.runner.machine import Machine
from ramet.runner.project_files import skill_discovery, starting_points
from ramet.workspace.worktrees import starting_point


def examine(
    machine: Machine, request: Request[Any], asker: int | None
) -> tuple[dict[str, SkillDefinition | RametError], StartingPoint | None]:
    """The skills of a request that adds work, and where the work starts; `asker` is the session of an agent."""
    found = skill_discovery.discover(machine, request, asker)
    if isinstance(request, SpawnAgent | SpawnAgents):
        _admit_children(machine, request, asker)
    if not isinstance(request, AddWork | StartRun):
        return found, None
    _require_measurable(machine, request)
    return found, _find_start(machine, request)


def _admit_children(machine: Machine, request: SpawnAgent | SpawnAgents, asker: int | None) -> None:
    """Refuse children that could not start, because a budget of the day or of the project is used up, and limits that
    cannot be measured. The engine refuses the rest.
    """
    ref = asker if request.parent_session_id is None else request.parent_session_id
    if ref is None:
        return
    try:
        parent = machine.ask(GetWork(effort_id=machine.ask(GetSession(session_id=ref)).effort_id))
    except (SessionNotFound, Forbidden):
        return
    root = str(skill_discovery.find_root(machine, request, asker) or "/")
    daily_budgets.require_room(machine, root, parent.id)
    for order in [request] if isinstance(request, SpawnAgent) else request.agents:
        limits = order.limits or ChildLimits()
        runs = Runs(driver=order.driver or parent.driver, model=order.model, skill=order.workflow_id or "do")
        budget_prices.require(machine, root, Limit(tokens=limits.tokens, cost_usd=limits.cost_usd), runs)


def _require_measurable(machine: Machine, request: AddWork | StartRun) -> None:
    """Refuse a limit that cannot be measured, of each program that the work names."""
    if isinstance(request, AddWork):
        limit = Limit(tokens=request.max_tokens, cost_usd=request.max_cost_usd)
        kinds = {(request.driver, request.model, request.skill)}
    else:
        limits = request.limits
        limit = Limit(tokens=limits.tokens, cost_usd=limits.cost_usd) if limits else Limit()
        lines = [line for line in request.lines if not line.is_done and "shell" not in (line.skill, line.driver)]
        kinds = {(line.driver or request.driver, line.model or request.model, line.skill) for line in lines}
        kinds = kinds or {(request.driver, request.model, "do")}
    if limit:
        root = skill_discovery.find_root(machine, request, None) or Path("/")
        for driver, model, skill in sorted(kinds, key=repr):
            budget_prices.require(machine, str(root), limit, Runs(driver=driver, model=model, skill=skill))


def _find_start(machine: Machine, request: AddWork | StartRun) -> StartingPoint | None:
    wanted = request.start or StartAt()
    if isinstance(request, AddWork) and request.based_on is not None:
        if wanted.is_chosen:
            raise InvalidParams(
                f"e{request.based_on} decides where its next effort starts: at its result",
                field="start",
                value=wanted.base,
                fix="leave out --base and --with-changes, or leave out --based-on",
            )
        return None
    if isinstance(request, AddWork) and request.here is not None and wanted.directory is None:
        wanted = StartAt(directory=request.here.directory, base=wanted.base, with_changes=wanted.with_changes)
    root = skill_discovery.find_root(machine, request, None)
    if root is None or not root.is_dir():  # the engine refuses it, or another machine has it
        return None
    return _look(machine, root, wanted)


def _look(machine: Machine, root: Path, wanted: StartAt) -> StartingPoint | None:
    """What git says. If the caller chose nothing, trouble with git is no reason to refuse the work."""
    try:
        return starting_point.find(machine.git, str(root), wanted, starting_points.holder(machine))
    except (GitFailed, WorktreeError) as error:
        if wanted.is_chosen:
            raise
        return StartingPoint(note=f"{error.message}; {error.fix}")
