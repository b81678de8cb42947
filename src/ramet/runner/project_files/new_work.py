"""What is read from the disk before work is added: the files of its skills, and the commit at which it starts.

The base is found when work is added and not when it runs: by then the user may be on another branch.
"""

from pathlib import Path
from typing import Any

from ramet.errors import GitFailed, InvalidParams, RametError, WorktreeError
from ramet.protocol.operation import Request
from ramet.protocol.record.skills import SkillDefinition
from ramet.protocol.record.starting_points import StartAt, StartingPoint
from ramet.protocol.runs.runs import StartRun
from ramet.protocol.work.queue import AddWork
from ramet.runner import starting_points
from ramet.runner.machine import Machine
from ramet.runner.project_files import skill_discovery
from ramet.workspace.worktrees import starting_point


def examine(
    machine: Machine, request: Request[Any], asker: int | None
) -> tuple[dict[str, SkillDefinition | RametError], StartingPoint | None]:
    """The skills of a request that adds work, and where the work starts; `asker` is the session of an agent."""
    found = skill_discovery.discover(machine, request, asker)
    if not isinstance(request, AddWork | StartRun):
        return found, None
    return found, _find_start(machine, request)


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
