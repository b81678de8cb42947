"""What the runner does differently for a child: its directory, what it inherits, and which tools it may use."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ramet.config.settings import WorkSettings
from ramet.errors import FolderMissing, InvalidParams, PathOutside
from ramet.protocol.history.commits import Log, Show
from ramet.protocol.history.contexts import Compile
from ramet.protocol.history.inheritance import Inheritance
from ramet.protocol.pages import follow
from ramet.protocol.record.efforts import EffortRow
from ramet.protocol.record.sessions import FindSessions
from ramet.protocol.work.keepers import MARKER
from ramet.runner.machine import Machine
from ramet.vendors.contract.driver_protocol import Driver, ToolServer
from ramet.workspace.files import confined

_TOOL_SECONDS = 3600
"""The longest that one call of a tool takes; a wait that is not over by then is asked for again."""


class Spawned(Struct, frozen=True, kw_only=True):
    """What an effort's metadata keeps of its spawn."""

    context: dict[str, Any] | None = None
    inherit: Inheritance | None = None
    allowed_tools: list[str] | None = None


def read(effort: EffortRow) -> Spawned:
    """What was requested when it was spawned; nothing if it was not spawned."""
    return msgspec.convert((effort.metadata or {}).get("spawn", {}), Spawned)


def compile_inherited(machine: Machine, effort: EffortRow, spawned: Spawned, max_tokens: int) -> str:
    """What a child knows of what came before it, as a model would read it."""
    place = _end_of_inheritance(machine, effort) if spawned.inherit not in (None, "none") else None
    if place is None:
        return ""
    compiled = machine.ask(Compile(hash=place, format="text", max_tokens=max_tokens))
    return "\n\n".join(str(message["content"]) for message in compiled.messages)


def _end_of_inheritance(machine: Machine, effort: EffortRow) -> str | None:
    """The commit before the one that gives a child its goal: in the history of its first session, which has the turns
    of its attempts later.
    """
    first = machine.ask(FindSessions(effort_id=effort.id)).items[-1]
    for page in follow(machine.ask, Log(branch=first.branch)):
        for row in page.items:
            if row.content_type == "instruction" and machine.ask(Show(hash=row.hash)).text == effort.prompt:
                return row.parent
    return None


def find_workspace(machine: Machine, effort: EffortRow, project: str) -> str | None:
    """The directory that an effort was given, inside its project or a worktree, with no symbolic link on the way; None
    if it was given none.
    """
    if effort.workspace is None:
        return None
    workspace = Path(effort.workspace)
    for root in (Path(project), machine.places.worktrees):
        if workspace == root:
            return effort.workspace
        if workspace.is_relative_to(root):
            if not confined.has_folder(root, str(workspace.relative_to(root))):
                raise FolderMissing(f"the folder of e{effort.id}, {workspace}, no longer exists")
            return effort.workspace
    raise PathOutside(f"{workspace} is outside {project}", field="workspacePath", value=effort.workspace)


def require_confinement(driver: Driver, spawned: Spawned) -> None:
    """Refuse a driver that cannot restrict tools, if the child may use only some of them."""
    if spawned.allowed_tools is not None and not driver.abilities.confinement:
        raise InvalidParams(
            f"{driver.name} cannot be restricted to named tools",
            field="allowedTools",
            value=", ".join(spawned.allowed_tools),
            fix="choose another driver, or leave out allowedTools",
        )


def tool_server(driver: Driver, settings: WorkSettings, timeout_seconds: int | None) -> ToolServer | None:
    """Ramet's own tools, for a program that supports them; None if they are off, or their package is missing."""
    if not (settings.tools and driver.abilities.mcp) or importlib.util.find_spec("mcp") is None:
        return None
    return ToolServer(
        command=sys.executable,
        arguments=["-P", "-m", "ramet.mcp"],  # -P: a folder `mcp` of the project is not the package
        variables=["RAMET_SOCKET", "RAMET_TOKEN", MARKER],
        seconds=min(timeout_seconds or _TOOL_SECONDS, _TOOL_SECONDS),
    )
