"""Checks: the commands that decide whether a candidate may land.

They are the owner's: from the owner's own file, from the target branch's `ramet.yaml` if the owner trusts exactly that
content, or given with the landing. They run what agents wrote, so they run in the sandbox of the effort's profile.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from ramet.config import trust
from ramet.config.files import read_content
from ramet.config.layers import load_own
from ramet.config.places import make_private
from ramet.config.settings import ProfileSettings, Settings
from ramet.errors import EffortNotFound, RametError, WorktreeError
from ramet.protocol.landing.landings import LandingRow
from ramet.protocol.work.queue import GetWork
from ramet.runner.attempts import sandbox_setup, worktree_setup
from ramet.runner.attempts.agent_environment import find_visible
from ramet.runner.attempts.sandbox_setup import Wanted
from ramet.runner.attempts.worktree_setup import How, Site
from ramet.runner.context import RunnerContext
from ramet.runner.machine import Machine
from ramet.runner.processes.shell_command import ShellCommand
from ramet.workspace.git.repository import Repository
from ramet.workspace.worktrees.scratch import enter, scratch
from ramet.workspace.worktrees.worktree import Worktree

_FILE = "ramet.yaml"
_DRIVER = "shell"
_PROXY_FILE = "proxy.sock"


class Checks(Struct, frozen=True, kw_only=True):
    """The commands that a landing has to pass, and where they come from."""

    commands: dict[str, str]
    source: str
    note: str | None = None
    """Why checks that the project names do not count."""


def find_checks(machine: Machine, repository: Repository, project_path: str, target: str, tip: str) -> Checks:
    """The checks of a target branch. A file on the branch that lands, or in the checkout, has no say."""
    own = load_own(machine.environ).settings.checks.commands
    place = f"{repository.prefix}/{_FILE}" if repository.prefix else _FILE
    listed = repository.git.run(repository.checkout, "ls-tree", "--full-tree", "-z", tip, "--", place)
    if not listed.startswith("100"):
        return Checks(commands=own, source="your configuration")
    content = os.fsencode(repository.git.run(repository.checkout, "cat-file", "blob", f"{tip}:{place}"))
    path = Path(project_path) / _FILE
    try:
        named = read_content(content, path).get("checks.commands")
    except RametError as error:
        return Checks(commands=own, source="your configuration", note=error.message)
    if not isinstance(named, dict) or not named:
        return Checks(commands=own, source="your configuration")
    if not trust.is_trusted({**machine.environ, "RAMET_HOME": str(machine.places.home)}, path, content):
        note = f"the checks of {_FILE} on {target} do not count: run `ramet trust` with that file"
        return Checks(commands=own, source="your configuration", note=note)
    commands = {str(name): str(command) for name, command in named.items()}
    return Checks(commands={**own, **commands}, source=f"{_FILE} on {target}")


class CheckFailed(Exception):
    """A check did not succeed."""


class CheckRun:
    """The checks of one landing on one candidate."""

    def __init__(self, runner: RunnerContext, landing: LandingRow, is_stopped: Callable[[], bool]) -> None:
        self._runner = runner
        self._landing = landing
        self.is_stopped = is_stopped
        self._settings: Settings = runner.machine.settings_in(landing.directory)
        self._profile = _find_profile(runner, landing, self._settings)
        self.log = runner.places.home / "landings" / f"l{landing.id}.log"

    def run(self, repository: Repository, commit: str) -> None:
        """Run every check in a new worktree of the candidate. `CheckFailed` says which one did not succeed, and how."""
        if not self._landing.checks:
            return
        make_private(self.log.parent)
        folder = self._runner.places.worktrees
        with scratch(repository, folder, self._landing.directory, f"l{self._landing.id}", commit) as top:
            directory = enter(top, repository.prefix)
            environ = self._prepare(directory, commit)
            with self._confined(directory, environ) as (wrapper, inside):
                for name, command in self._landing.checks.items():
                    trouble = self._command(name, command, directory, wrapper, inside).run(self.is_stopped)
                    if trouble is not None and trouble.is_hosts:
                        raise WorktreeError(
                            f"the check {name} (`{command}`) {trouble.text}",
                            fix=f"see the logs in {self.log.parent}, then `ramet landings retry l{self._landing.id}`",
                        )
                    if trouble is not None:
                        raise CheckFailed(f"{name} (`{command}`) {trouble.text}")

    # What a set-up command tells and asks: nobody watches the worktree of a landing.

    def tell(self, how: How, command: str, log: str) -> None:
        """Nothing: the log of the set-up has it."""

    def find_start(self) -> str | None:
        """None: an agent has worked on every candidate."""
        return None

    def _prepare(self, directory: Path, commit: str) -> dict[str, str]:
        """Have the project's set-up in the worktree; the environment of the checks."""
        environ = find_visible(self._runner.environ, self._settings.work, _DRIVER, ProfileSettings())
        site = Site(
            worktree=Worktree(path=str(directory), branch="", base=commit),
            project_path=self._landing.directory,
            settings=self._settings.worktree,
            is_sandboxed=self._profile.sandbox != "off",
            environ=environ,
            grace_seconds=self._settings.work.grace_seconds,
        )
        worktree_setup.prepare_for(self._runner, self, site)
        return {**environ, **worktree_setup.find_ports(self._runner, str(directory))}

    @contextmanager
    def _confined(
        self, directory: Path, environ: Mapping[str, str]
    ) -> Iterator[tuple[Sequence[str], Mapping[str, str]]]:
        """What starts a command in the sandbox of the effort's profile, and its environment there."""
        instance = self._runner.identify()
        wanted = Wanted(
            instance=instance,
            driver=_DRIVER,
            profile=self._profile,
            settings=self._settings.sandbox,
            environ=environ,
            program=["/bin/sh"],
            project_path=self._landing.directory,
            directory=str(directory),
            is_spawned=False,
            native_id=None,
        )
        sandbox = sandbox_setup.make(self._runner, wanted)
        if sandbox is None:
            yield (), environ
            return
        folder = self._runner.places.keepers / instance
        try:
            if sandbox.proxy is not None:  # a file in its place: a check reaches no host
                make_private(folder)
                (folder / _PROXY_FILE).touch()
            yield sandbox.arguments, sandbox.adapt(environ)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _command(
        self, name: str, command: str, directory: Path, wrapper: Sequence[str], environ: Mapping[str, str]
    ) -> ShellCommand:
        return ShellCommand(
            text=command,
            directory=directory,
            environ=environ,
            log=self.log.with_suffix(f".{_file_name(name)}.log"),
            timeout_seconds=self._settings.land.check_seconds,
            grace_seconds=self._settings.work.grace_seconds,
            redactor=self._runner.machine.redactor_in(self._landing.directory),
            wrapper=wrapper,
            purpose="check",
        )


def _file_name(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name)[:40]


def _find_profile(runner: RunnerContext, landing: LandingRow, settings: Settings) -> ProfileSettings:
    """The strictest sandbox of the profiles that worked on the branch."""
    profiles = [ProfileSettings()]
    for effort_id in landing.efforts:
        try:
            driver = runner.machine.ask(GetWork(effort_id=effort_id)).driver
        except EffortNotFound:
            continue
        profiles.append(settings.drivers.profiles.get(driver or "", ProfileSettings()))
    strictness = ("off", "workspace", "strict")
    sandbox = max((profile.sandbox for profile in profiles), key=strictness.index)
    return ProfileSettings(sandbox=sandbox)
