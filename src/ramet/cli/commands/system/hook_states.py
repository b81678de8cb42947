"""The state of our hooks: in each settings file of an agent program (`look`), and of the hook program that these start
(`look_at_hook_program`).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from ramet.cli.commands.record.project import projects_around
from ramet.cli.commands.record.project_scope import path_here
from ramet.cli.commands.system.settings_changes import find_program, project_folder, settings_folder
from ramet.cli.invocation import Invocation
from ramet.errors import ConfigError
from ramet.hooks import installation
from ramet.hooks.program import find_fault, find_own, make_program, program_path
from ramet.installer.changes import State
from ramet.vendors import registry
from ramet.vendors.contract.hooks.settings import Program, Scope


class Problem(NamedTuple):
    """What is not as it should be, and what to do about it."""

    text: str
    fix: str


class Installed(NamedTuple):
    """Our hooks in one settings file of an agent program."""

    vendor: str
    scope: Scope
    state: State | Literal["broken"]
    """`broken`: the file cannot be parsed, so it is not known."""
    file: Path
    status_line: State | None
    problems: list[Problem]
    """Why installed hooks do not work as they should."""
    to_do: str | None
    """What is left to do by hand."""

    @property
    def name(self) -> str:
        """As people see it."""
        return f"{self.vendor} ({self.scope})"

    @property
    def is_there(self) -> bool:
        """Whether the agent program may call us by what this file says."""
        return self.state not in ("absent", "broken")

    def as_json(self) -> dict[str, Any]:
        """For programs, and for the table."""
        return {**self._asdict(), "file": str(self.file), "problems": [each._asdict() for each in self.problems]}


class HookProgram(NamedTuple):
    """What the command line in the settings files starts."""

    file: Path
    problem: Problem | None

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {"file": str(self.file), "problem": self.problem and self.problem._asdict()}


def settings_file(invocation: Invocation, agent: Program, scope: Scope) -> Path:
    """The file that an agent program reads."""
    folder = project_folder if agent.shares_worktrees else settings_folder
    return agent.settings_file(scope, folder(invocation), invocation.environ)


def settings_root(invocation: Invocation, agent: Program, scope: Scope) -> Path:
    """The folder that a link in that file's path may not lead out of."""
    folder = project_folder if agent.shares_worktrees else settings_folder
    return agent.settings_root(scope, folder(invocation), invocation.environ)


def look(invocation: Invocation) -> list[Installed]:
    """Each agent program in each scope. Without a file of its own, `local` is the file of `project`."""
    return [
        look_at(invocation, agent, scope)
        for agent in registry.settings().values()
        for scope in get_args(Scope)
        if scope != "local" or agent.local_file
    ]


def in_scope(invocation: Invocation, agent: Program, scope: Scope) -> Program:
    """The agent program with our command line for a scope."""
    own = find_own(invocation.environ, invocation.places.home)
    return agent.in_scope(scope, program_path(own.places.home), invocation.environ)


def look_at(invocation: Invocation, agent: Program, scope: Scope) -> Installed:
    """How our hooks are in one file; one that is broken is a finding, too."""
    agent, file = in_scope(invocation, agent, scope), settings_file(invocation, agent, scope)
    try:
        return _look_at(invocation, agent, scope, file)
    except ConfigError as error:
        problem = Problem(error.message, error.fix or "")
        return Installed(agent.name, scope, "broken", file, status_line=None, problems=[problem], to_do=None)


def _look_at(invocation: Invocation, agent: Program, scope: Scope, file: Path) -> Installed:
    root = settings_root(invocation, agent, scope)
    state = installation.find_state(agent, file, root)
    again = f"ramet hooks install --agent {agent.name} --scope {scope}"
    problems = [Problem(difference, again) for difference in installation.find_differences(agent, file, root)]
    if state != "absent" and (setting := agent.find_switch(file, root)):
        problems.append(Problem(f"the program does not call the hooks: {setting}", "remove that setting"))
    return Installed(
        agent.name,
        scope,
        state,
        file,
        status_line=installation.find_status_line(file, root) if agent.status_line else None,
        problems=problems,
        to_do=None if state == "absent" else find_to_do(invocation, agent, scope),
    )


def find_to_do(invocation: Invocation, agent: Program, scope: Scope) -> str | None:
    """What a person has to do before the program runs our hooks; None if nothing is known to be left."""
    folder = settings_folder(invocation) / agent.folder
    if scope != "user" and agent.shares_worktrees and not folder.is_dir():
        return f"in a linked worktree {agent.name} reads hooks only if {folder} exists: `mkdir {folder}`"
    if agent.find_advice is None:
        return None
    own, file = agent.settings_file("user", folder, invocation.environ), settings_file(invocation, agent, scope)
    positions = installation.find_positions(file, settings_root(invocation, agent, scope))
    return agent.find_advice(own, file, positions)


def look_at_hook_program(invocation: Invocation) -> HookProgram:
    """Whether the hook program is as Ramet would write it."""
    own = find_own(invocation.environ, invocation.places.home)
    path = program_path(own.places.home)
    fault = find_fault(path, make_program(*own))
    problem = Problem(fault, "ramet hooks install") if fault else None
    return HookProgram(path, problem)


def find_problems(found: Sequence[Installed], hook_program: HookProgram) -> Iterator[Problem]:
    """Why installed hooks do not work as they should, each with the name of its program."""
    for each in found:
        # What is wrong with a file that is broken says which one it is.
        lead = "" if each.state == "broken" else f"{each.name}: "
        yield from (Problem(f"{lead}{problem.text}", problem.fix) for problem in each.problems)
    if hook_program.problem and any(each.is_there for each in found):
        yield hook_program.problem


class Here(NamedTuple):
    """Whether Ramet records an agent program that is started in the current directory."""

    vendor: str
    is_recorded: bool
    detail: str
    fix: str | None = None
    is_problem: bool = False
    """Whether a person who has installed the hooks for this project would expect otherwise."""

    def say(self) -> str:
        """`here: builder is recorded (user settings)`."""
        return f"here: {self.vendor} {'is recorded' if self.is_recorded else 'is not recorded'}: {self.detail}"


def look_here(invocation: Invocation, found: Sequence[Installed]) -> list[Here]:
    """For each agent program that has our hooks anywhere, or is on this machine."""
    known = {each.vendor: [one for one in found if one.vendor == each.vendor and one.is_there] for each in found}
    return [
        _look_here(invocation, registry.settings()[vendor], installed)
        for vendor, installed in known.items()
        if installed or find_program(invocation, vendor)
    ]


def _look_here(invocation: Invocation, agent: Program, installed: Sequence[Installed]) -> Here:
    again = f"ramet init --agent {agent.name}"
    if not installed:
        return Here(agent.name, False, "it has no hooks of Ramet", again)
    top = settings_folder(invocation)
    is_at_top = agent.reads_above or invocation.cwd == top
    called = [each for each in installed if each.scope == "user" or is_at_top]
    if not called:
        where = f"its hooks are in {installed[0].file}, which it reads only if it is started in {top}"
        return Here(agent.name, False, where, again, is_problem=True)
    project = _find_project(invocation)
    if project is None:
        return Here(agent.name, False, "this directory is in no registered project", again)
    return Here(agent.name, True, f"by its {called[0].scope} settings, in {project}")


def _find_project(invocation: Invocation) -> str | None:
    """The project in which hooks record a session that starts here; None if they record none."""
    own = find_own(invocation.environ, invocation.places.home)
    folders = (invocation.cwd, project_folder(invocation))
    if own.places.socket == invocation.places.socket:
        around = [row for folder in folders for row in projects_around(invocation, str(folder))]
        if around:
            return max((path_here(invocation, row) or "" for row in around), key=len)
    elif own.settings.hooks.record == "registered":
        return "a project of your own database, if it is registered there"
    return str(folders[1]) if own.settings.hooks.record == "all" else None
