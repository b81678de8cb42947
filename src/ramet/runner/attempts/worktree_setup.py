"""Preparing a worktree so that its agent can run the project: its ports, and what the set-up command makes.

The command is the owner's, or of a file that the owner trusts. It runs with the owner's rights, outside of any sandbox;
so in a worktree that holds the work of a sandboxed agent it does not run. It runs once the attempt is on record: before
that, another agent may work in the worktree.
"""

import os
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from ramet.config.places import make_private
from ramet.config.settings import WorktreeSettings
from ramet.errors import SetupFailed, SetupKilled
from ramet.protocol.work.attempts import NotePreparation
from ramet.protocol.work.leases import Claimed
from ramet.protocol.work.queue import GetWork
from ramet.runner.context import RunnerContext
from ramet.runner.processes.shell_command import ShellCommand
from ramet.runner.project_files import starting_points
from ramet.workspace.worktrees import labels, ports, prepared_folders, worktree
from ramet.workspace.worktrees.prepared_folders import Recipe, Wanted
from ramet.workspace.worktrees.worktree import Worktree

How = Literal["running", "reused", "skipped"]

_FOLDER = "setup"


class Site(Struct, frozen=True, kw_only=True):
    """A worktree, and the attempt that it is prepared for."""

    worktree: Worktree
    project_path: str
    settings: WorktreeSettings
    is_sandboxed: bool
    environ: Mapping[str, str]
    """What the agent would see, without its token."""
    grace_seconds: float


class Watcher(Protocol):
    """Whoever a worktree is prepared for."""

    def tell(self, how: How, command: str, log: str) -> None:
        """Hear how it is prepared."""

    def is_stopped(self) -> bool:
        """Whether it is no longer needed."""

    def find_start(self) -> str | None:
        """The commit that the user chose, on which no agent has worked yet."""


class _Attempt:
    """An attempt that a worktree is prepared for."""

    def __init__(self, runner: RunnerContext, claimed: Claimed) -> None:
        self._runner = runner
        self._claimed = claimed

    def tell(self, how: How, command: str, log: str) -> None:
        claimed = self._claimed
        note = NotePreparation(effort_id=claimed.id, generation=claimed.generation, how=how, command=command, log=log)
        self._runner.machine.ask(note)

    def is_stopped(self) -> bool:
        return self._runner.machine.ask(GetWork(effort_id=self._claimed.id)).stop_request is not None

    def find_start(self) -> str | None:
        return starting_points.of(self._claimed)


def prepare(runner: RunnerContext, claimed: Claimed, site: Site) -> bool:
    """Prepare the worktree unless it is prepared for its lock files already; whether that took time."""
    return prepare_for(runner, _Attempt(runner, claimed), site)


def prepare_for(runner: RunnerContext, watcher: Watcher, site: Site) -> bool:
    """The same for anybody."""
    folder = runner.places.worktrees
    top = worktree.find_top(folder, site.worktree.path)
    if top is None or labels.read(top.parent, top.name) is None:
        return False
    ports.reserve(folder, top)
    has_run = _Setup(runner, watcher, site, top).run() if site.settings.setup else False
    label = labels.read(top.parent, top.name)
    if label is not None and not label.is_used:
        labels.write(top.parent, top.name, replace(label, is_used=True))
    return has_run


def find_ports(runner: RunnerContext, directory: str) -> dict[str, str]:
    """The variable that names the ports of the worktree around a directory, if it has any."""
    top = worktree.find_top(runner.places.worktrees, directory)
    base = ports.read(top) if top else None
    return {} if base is None else {ports.VARIABLE: str(base)}


class _Setup:
    """The preparation of one worktree."""

    def __init__(self, runner: RunnerContext, watcher: Watcher, site: Site, top: Path) -> None:
        settings = site.settings
        self._runner = runner
        self._watcher = watcher
        self._site = site
        self._top = top
        self._directory = Path(site.worktree.path)
        self._kept = runner.places.home / "prepared" / top.parent.name
        self._log = runner.places.home / _FOLDER / top.parent.name / f"{top.name}.log"
        self._recipe = Recipe(
            command=settings.setup or "",
            lock_files=tuple(settings.lock_files),
            folders=tuple(settings.reuse),
            uses_links=settings.reuse_by == "link",
        )

    def run(self) -> bool:
        wanted = prepared_folders.identify(self._directory, self._recipe)
        label = labels.read(self._top.parent, self._top.name)
        if label is None or label.prepared_for == wanted.key:
            return False
        seconds = self._site.settings.setup_seconds
        alone = prepared_folders.one_at_a_time(self._kept, wanted, seconds) if wanted.is_reusable else nullcontext()
        with alone:
            if not self._reuse(wanted) and not self._execute(wanted, is_used=label.is_used):
                return False
        labels.write(self._top.parent, self._top.name, replace(label, prepared_for=wanted.key))
        return True

    def _reuse(self, wanted: Wanted) -> bool:
        """Take what another worktree with the same lock files was prepared with, if this one has nothing yet."""
        is_new = not any(os.path.lexists(self._directory / name) for name in self._recipe.folders)
        if not (wanted.is_reusable and is_new and prepared_folders.restore(self._kept, self._directory, wanted)):
            return False
        self._tell("reused")
        return True

    def _execute(self, wanted: Wanted, *, is_used: bool) -> bool:
        """Run the command, if no sandboxed agent could have written what it reads."""
        is_users = not is_used and self._site.worktree.base == self._watcher.find_start()
        if self._site.is_sandboxed and not is_users:
            self._tell("skipped")
            return False
        self._tell("running")
        make_private(self._log.parent)
        environ = {**self._site.environ, **find_ports(self._runner, self._site.worktree.path)}
        command = ShellCommand(
            text=self._recipe.command,
            directory=self._directory,
            environ=environ,
            log=self._log,
            timeout_seconds=self._site.settings.setup_seconds,
            grace_seconds=self._site.grace_seconds,
            redactor=self._runner.machine.redactor_in(self._site.project_path),
        )
        trouble = command.run(self._watcher.is_stopped)
        if trouble is not None:
            raise (SetupKilled if trouble.is_hosts else SetupFailed)(
                f"the set-up command `{command.text}` {trouble.text}",
                value=command.text,
                fix=f"see its log: {self._log}",
            )
        if wanted.is_reusable:
            prepared_folders.keep(self._kept, self._directory, wanted)
        return True

    def _tell(self, how: How) -> None:
        self._watcher.tell(how, self._recipe.command, str(self._log))
