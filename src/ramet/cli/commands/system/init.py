"""`ramet init`: set up a project in one step, and undo it."""

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, get_args

import click

from ramet.cli.command import Command
from ramet.cli.commands.record.project import projects_around, register, warn_of_local_remote
from ramet.cli.commands.system import hooks
from ramet.cli.commands.system.hook_states import Problem, look_at
from ramet.cli.commands.system.mcp import command_name
from ramet.cli.commands.system.overridden_settings import find_unheeded, show_problems
from ramet.cli.commands.system.settings_changes import (
    DONE,
    UNDONE,
    is_tracked,
    plan_excludes,
    plan_excludes_removal,
    project_folder,
    say_result,
    settings_folder,
    show_differences,
    word,
    write,
)
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count, print_json
from ramet.errors import ConfigError
from ramet.hooks.program import find_own, write_program
from ramet.installer.changes import Change
from ramet.mcp import installation as mcp_installing
from ramet.protocol.record.projects import ListProjects
from ramet.vendors import registry
from ramet.vendors.contract.hooks.settings import Program, Scope
from ramet.workspace.files import reports

_PROGRAMS = registry.settings()


class Step(NamedTuple):
    """One thing that is set up, or removed."""

    what: str
    file: Path
    result: str
    vendor: str | None = None
    diff: str | None = None
    do: Callable[[], object] = lambda: None

    def as_json(self) -> dict[str, Any]:
        """As `ramet hooks install` says it, and what it is."""
        named = {"what": self.what, "vendor": self.vendor, "file": str(self.file)}
        return {**named, "result": self.result, "diff": self.diff}

    def say(self, *, dry_run: bool) -> str:
        """`hooks    builder: added (shop/settings.json)`."""
        lead = f"{self.vendor}: " if self.vendor else ""
        return f"{self.what:7}  {lead}{say_result(self.result, dry_run=dry_run)} ({self.file})"


@click.command(
    cls=Command,
    examples=[
        "ramet init",
        f"ramet init --agent {registry.PREFERRED[0]} --status-line",
        "ramet init --scope project",
        "ramet init --dry-run",
        "ramet init --remove",
    ],
)
@click.option(
    "--agent",
    "names",
    multiple=True,
    type=click.Choice(list(_PROGRAMS)),
    help="Set up this agent program (repeatable; default: every installed one).",
)
@click.option(
    "--scope",
    type=click.Choice(get_args(Scope)),
    help="`user`: your own settings, for all projects; `project`: files that everyone on the project shares; `local`: "
    "files in the project that git ignores (default: user; with --remove: all of them).",
)
@hooks.status_line_option
@click.option(
    "--import/--no-import",
    "imports",
    default=None,
    help="Import the sessions that agent programs stored on this machine (default: ask at a terminal).",
)
@click.option("--remove", is_flag=True, help="Remove everything that init wrote.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and write nothing.")
@click.pass_obj
def init(
    invocation: Invocation,
    names: Sequence[str],
    scope: Scope | None,
    status_line: bool,
    imports: bool | None,
    remove: bool,
    dry_run: bool,
) -> None:
    """Set up the project around the current directory, and list what was done.

    This registers the project, adds Ramet's hooks and tools to the settings of agent programs, and creates `.ramet/`,
    which git ignores. It leaves alone what is set up already, so you can run it again at any time.

    Your own settings serve all your projects: Ramet records only the registered ones. At a terminal, init also offers
    to import the sessions that agent programs have stored.
    """
    folder = project_folder(invocation)
    programs = [_PROGRAMS[name] for name in names]
    unheeded: list[Problem] = []
    if remove:
        scopes = get_args(Scope) if scope is None else (scope,)
        changes = _plan_removal(invocation, programs or list(_PROGRAMS.values()), scopes)
        steps = [*_change_steps(changes, UNDONE), *_leave(invocation, folder)]
    else:
        programs = programs or hooks.find_installed(invocation)
        unheeded = list(find_unheeded(invocation)) if programs else []
        if not invocation.as_json:
            show_problems(unheeded, err=True)
        changes, left = _plan(invocation, programs, scope or "user", status_line=status_line)
        steps = [*_enter(invocation, folder), *_change_steps(changes, DONE), *left]
    if not dry_run:
        _carry_out(invocation, folder, changes, steps, is_setup=not remove, has_programs=bool(programs))
    if invocation.as_json:
        if imports and not (remove or dry_run):
            from ramet.cli.commands.memory.imports import offer  # noqa: PLC0415 - as below

            offer.import_quietly(invocation)
        told = {"items": [step.as_json() for step in steps], "unheeded": [each._asdict() for each in unheeded]}
        return print_json({**told, "dry_run": dry_run})
    _show(changes, steps, dry_run=dry_run)
    if remove:
        return _warn_of_others(invocation, folder, changes)
    if dry_run:
        return None
    warn_of_local_remote(invocation, str(folder))
    return _advise(invocation, programs, scope or "user", imports=imports)


def _carry_out(
    invocation: Invocation,
    folder: Path,
    changes: Sequence[tuple[str, Change]],
    steps: Sequence[Step],
    *,
    is_setup: bool,
    has_programs: bool,
) -> None:
    if is_setup:
        _make_folder(folder)
    write(invocation, [change for _, change in changes])
    if has_programs and is_setup:
        write_program(*find_own(invocation.environ, invocation.places.home))
    for step in steps:
        step.do()


def _plan(
    invocation: Invocation, programs: Sequence[Program], scope: Scope, *, status_line: bool
) -> tuple[list[tuple[str, Change]], list[Step]]:
    """The changes to the settings files, and the files that are left alone. A damaged installation may lack the package
    of the tools.
    """
    changes = [("hooks", change) for change in hooks.plan(invocation, programs, scope, status_line=status_line)]
    if find_spec("mcp") is not None:
        command = command_name(invocation)
        places = [(program.name, _place(invocation, program, scope)) for program in programs]
        changes += [("tools", mcp_installing.plan_install(name, place, command)) for name, place in places]
    if scope != "local":
        return changes, []
    left = [each for each in changes if is_tracked(invocation, each[1])]
    changes = [each for each in changes if each not in left]
    excludes = plan_excludes(invocation, [change for _, change in changes])
    steps = [Step(what, change.file, "left alone: git tracks it", change.vendor) for what, change in left]
    return changes + ([] if excludes is None else [("exclude", excludes)]), steps


def _place(invocation: Invocation, program: Program, scope: Scope) -> mcp_installing.Place:
    own = mcp_installing.find_own_place(program.name, invocation.environ) if scope == "user" else None
    return own or mcp_installing.find_place(program.name, settings_folder(invocation))


def _plan_removal(
    invocation: Invocation, programs: Sequence[Program], scopes: Sequence[Scope]
) -> list[tuple[str, Change]]:
    """What takes our entries out of every file of some scopes. A file that two scopes have is changed once."""
    found: dict[Path, tuple[str, Change]] = {}
    for scope in scopes:
        changes = [("hooks", change) for change in hooks.plan_removal(invocation, programs, scope)]
        places = [(program.name, _place(invocation, program, scope)) for program in programs]
        changes += [("tools", mcp_installing.plan_remove(name, place)) for name, place in places]
        if scopes == ("local",):
            changes = [each for each in changes if not is_tracked(invocation, each[1])]
        found |= {change.file: (what, change) for what, change in changes if change.file not in found}
    excludes = plan_excludes_removal(invocation) if "local" in scopes else None
    there = [each for each in found.values() if each[1].state != "absent"]
    seen = {(what, change.vendor) for what, change in there}
    for what, change in found.values():
        if (what, change.vendor) not in seen:
            seen.add((what, change.vendor))
            there.append((what, change))
    return there + ([] if excludes is None else [("exclude", excludes)])


def _warn_of_others(invocation: Invocation, folder: Path, changes: Sequence[tuple[str, Change]]) -> None:
    """Say that other projects are affected, if the user's own settings were changed."""
    in_project = (folder, settings_folder(invocation))
    if any(what == "hooks" and change.diff and change.scope not in in_project for what, change in changes):
        others = [row for row in invocation.ask(ListProjects()).items if row.path != str(folder)]
        if others:
            click.echo(f"your own settings serve all projects: this also affects {count(len(others), 'other project')}")


def _change_steps(changes: Sequence[tuple[str, Change]], words: dict[str, str]) -> Iterator[Step]:
    for what, change in changes:
        yield Step(what, change.file, word(change, words), change.vendor, change.diff)


def _enter(invocation: Invocation, folder: Path) -> Iterator[Step]:
    """Register the project, and create a folder for the files of agents."""
    is_known = any(row.path == str(folder) for row in projects_around(invocation, str(folder)))
    result = "is registered" if is_known else "registered"
    yield Step("project", folder, result, do=lambda: register(invocation, str(folder)))
    own = folder / reports.FOLDER
    yield Step("folder", own, "is there" if own.is_dir() else "made")


def _make_folder(folder: Path) -> None:
    """First of all: if it cannot be created, nothing else is done."""
    try:
        reports.prepare(folder)
    except OSError as error:
        own = folder / reports.FOLDER
        raise ConfigError(
            f"cannot create {own}: {error.strerror}", fix=f"chown {folder} to you, or run this elsewhere"
        ) from error


def _leave(invocation: Invocation, folder: Path) -> Iterator[Step]:
    """Remove the folder if it is empty. The project stays in the database, with its history."""
    own = folder / reports.FOLDER
    if not own.is_dir():
        yield Step("folder", own, "nothing there")
    elif reports.is_unused(folder):
        yield Step("folder", own, "removed", do=lambda: reports.remove(folder))
    else:
        yield Step("folder", own, "stays: there is something in it")
    if projects_around(invocation, str(folder)):
        yield Step("project", folder, "stays registered, with what was done in it")


def _show(changes: Sequence[tuple[str, Change]], steps: Sequence[Step], *, dry_run: bool) -> None:
    if dry_run:
        show_differences(change for _, change in changes)
    for step in steps:
        click.echo(clean(step.say(dry_run=dry_run)))
    return click.echo("nothing was written") if dry_run else None


def _advise(invocation: Invocation, programs: Sequence[Program], scope: Scope, *, imports: bool | None) -> None:
    """Say what is left to do, and what comes next."""
    if imports is not False:
        from ramet.cli.commands.memory.imports import offer  # noqa: PLC0415 - which reads every vendor's sessions

        offer.offer(invocation, is_wanted=imports)
    click.echo()
    if not programs:
        return click.echo(f"no agent program is installed; choose one with --agent: {', '.join(_PROGRAMS)}")
    if find_spec("mcp") is None:
        click.echo("agents get no tools from Ramet: run `pip install --force-reinstall ramet`, then `ramet init` again")
    for to_do in filter(None, (look_at(invocation, program, scope).to_do for program in programs)):
        click.echo(clean(to_do))
    names = " or ".join(program.name for program in programs)
    is_seen = find_own(invocation.environ, invocation.places.home).places.socket == invocation.places.socket
    shown = "; `ramet ps` then shows it" if is_seen else ""
    return click.echo(f"next: start {names} here, as usual{shown}")
