"""`ramet hooks`: install, remove and check the hooks by which agent programs report to Ramet."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import click

from ramet.cli.command import Group
from ramet.cli.commands.system.hook_states import (
    Installed,
    find_problems,
    in_scope,
    look,
    look_at,
    look_at_hook_program,
    look_here,
    settings_file,
    settings_root,
)
from ramet.cli.commands.system.overridden_settings import find_unheeded, show_problems
from ramet.cli.commands.system.settings_changes import (
    DONE,
    UNDONE,
    confirm,
    find_program,
    is_tracked,
    plan_excludes,
    show_differences,
    show_results,
    write,
)
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, clean, pick_cells, print_json, print_table
from ramet.errors import ConfigError
from ramet.hooks import installation
from ramet.hooks.program import find_own, write_program
from ramet.installer.changes import Change
from ramet.vendors import registry
from ramet.vendors.contract.hooks.settings import Program, Scope

_COLUMNS: Columns[Installed] = {
    "PROGRAM": lambda row: row.vendor,
    "SCOPE": lambda row: row.scope,
    "STATE": lambda row: row.state,
    "FILE": lambda row: row.file,
}
_PROGRAMS = registry.settings()

_agents = click.option(
    "--agent",
    "names",
    multiple=True,
    type=click.Choice(list(_PROGRAMS)),
    help="Only this agent program (repeatable).",
)
_scope = click.option(
    "--scope",
    type=click.Choice(get_args(Scope)),
    default="project",
    help="`user`: your own settings in every directory; `project`: those that everyone on this project shares; "
    "`local`: your own in this project (default: project).",
)
status_line_option = click.option(
    "--status-line",
    is_flag=True,
    help=f"Also show effort, skill and phase below the prompt of {' and '.join(registry.with_status_line().values())},"
    " such as `[2:impl:P3]`.",
)
_dry_run = click.option("--dry-run", is_flag=True, help="Show what would change, and write nothing.")
_yes = click.option("--yes", is_flag=True, help="Do not ask for confirmation.")


@click.group(cls=Group, epilog=f"Programs: {', '.join(_PROGRAMS)}.")
def hooks() -> None:
    """Install, remove and check hooks: they report agents that you start yourself to Ramet.

    Such agents then appear in `ramet ps`, receive the project's directives, and lose nothing when their context is
    compacted.
    """


@hooks.command(
    examples=[
        "ramet hooks install",
        f"ramet hooks install --agent {registry.PREFERRED[0]} --scope user",
        "ramet hooks install --status-line --yes",
        "ramet hooks install --dry-run",
    ]
)
@_agents
@_scope
@status_line_option
@_dry_run
@_yes
@click.pass_obj
def install(
    invocation: Invocation, names: Sequence[str], scope: Scope, status_line: bool, dry_run: bool, yes: bool
) -> None:
    """Add Ramet's hooks to the settings of agent programs. It shows the changes and asks first.

    Without --agent, every installed program is set up. Other entries in the files stay unchanged, and a copy of each
    file is kept; `remove` restores the files byte for byte. Entries of Ramet that were changed by hand are written
    again.
    """
    programs = [_PROGRAMS[name] for name in names] or find_installed(invocation)
    if not programs:
        raise click.UsageError(f"no agent program is installed; choose one with --agent: {', '.join(_PROGRAMS)}.")
    planned = plan(invocation, programs, scope, status_line=status_line)
    if scope == "local":
        planned = _keep_local(invocation, planned)
    unheeded = list(find_unheeded(invocation))
    if not invocation.as_json:
        show_problems(unheeded, err=True)
    if not dry_run:
        if not yes and not confirm(invocation, planned, "install"):
            return click.echo("nothing was written", err=True)
        write(invocation, planned)
        write_program(*find_own(invocation.environ, invocation.places.home))
    more = {"unheeded": [each._asdict() for each in unheeded]}
    _show(invocation, planned, DONE, shown=not yes and not dry_run, dry_run=dry_run, **more)
    return None if invocation.as_json or dry_run else _advise(invocation, programs, scope, status_line=status_line)


@hooks.command(
    examples=[
        "ramet hooks remove",
        f"ramet hooks remove --scope user --agent {registry.PREFERRED[-1]}",
        "ramet hooks remove --yes",
    ]
)
@_agents
@_scope
@_dry_run
@_yes
@click.pass_obj
def remove(invocation: Invocation, names: Sequence[str], scope: Scope, dry_run: bool, yes: bool) -> None:
    """Remove Ramet's hooks from the settings of agent programs. Other entries stay unchanged.

    Without --agent, the hooks are removed from every program.
    """
    planned = plan_removal(invocation, [_PROGRAMS[name] for name in names or _PROGRAMS], scope)
    if not dry_run:
        if not yes and not confirm(invocation, planned, "remove"):
            return click.echo("nothing was written", err=True)
        write(invocation, planned)
    return _show(invocation, planned, UNDONE, shown=not yes and not dry_run, dry_run=dry_run)


@hooks.command(examples=["ramet hooks status", "ramet hooks status --json"])
@click.pass_context
def status(ctx: click.Context) -> None:
    """Show which agent programs have Ramet's hooks, and check them. Exits with 1 if something is wrong.

    The lines with `here` say whether a program that you start in the current directory is recorded.
    """
    invocation: Invocation = ctx.obj
    found, hook_program = look(invocation), look_at_hook_program(invocation)
    problems = list(find_problems(found, hook_program))
    is_any_there = any(each.is_there for each in found)
    unheeded = list(find_unheeded(invocation)) if is_any_there else []
    here = look_here(invocation, found) if is_any_there else []
    if invocation.as_json:
        print_json(
            {
                "items": [each.as_json() for each in found],
                "hook_program": hook_program.as_json(),
                "unheeded": [each._asdict() for each in unheeded],
                "here": [each._asdict() for each in here],
            }
        )
    else:
        print_table(list(_COLUMNS), pick_cells(found, _COLUMNS))
        show_problems([*problems, *unheeded])
        for each in found:
            if each.to_do:
                click.echo(clean(f"{each.name}: {each.to_do}"))
        for each_here in here:
            click.echo(clean(each_here.say()))
            if each_here.fix:
                click.echo(f"  fix: {each_here.fix}")
    if problems or any(each.is_problem for each in here):
        ctx.exit(1)


def plan(
    invocation: Invocation, programs: Sequence[Program], scope: Scope, *, status_line: bool = False
) -> list[Change]:
    """The changes for some programs. All are planned before the first is written."""
    return [
        installation.plan_install(
            in_scope(invocation, program, scope), *_places(invocation, program, scope), status_line=status_line
        )
        for program in programs
    ]


def plan_removal(invocation: Invocation, programs: Sequence[Program], scope: Scope) -> list[Change]:
    """The changes that remove the hooks again."""
    return [installation.plan_remove(program, *_places(invocation, program, scope)) for program in programs]


def _keep_local(invocation: Invocation, planned: list[Change]) -> list[Change]:
    """The changes, with one that hides the new files from git. A file that git has is not the user's alone."""
    for change in planned:
        if is_tracked(invocation, change):
            raise ConfigError(f"git tracks {change.file}, so it is shared", fix="use --scope user or --scope project")
    excludes = plan_excludes(invocation, planned)
    return planned if excludes is None else [*planned, excludes]


def _places(invocation: Invocation, program: Program, scope: Scope) -> tuple[Path, Path]:
    """The settings file, and the folder that it has to be in."""
    return settings_file(invocation, program, scope), settings_root(invocation, program, scope)


def find_installed(invocation: Invocation) -> list[Program]:
    """The programs that are on this machine."""
    return [program for program in _PROGRAMS.values() if find_program(invocation, program.name)]


def _show(
    invocation: Invocation, planned: list[Change], words: dict[str, str], *, shown: bool, dry_run: bool, **more: Any
) -> None:
    """The differences, unless they were shown before a question, and the results."""
    if not shown and not invocation.as_json:
        show_differences(planned)
    show_results(invocation, planned, words, dry_run=dry_run, **more)


def _advise(invocation: Invocation, programs: Sequence[Program], scope: Scope, *, status_line: bool) -> None:
    """Say what is left to do, and what a person might not expect."""
    other: Scope = "user" if scope == "project" else "project"
    for program in programs:
        here, there = look_at(invocation, program, scope), look_at(invocation, program, other)
        if here.to_do:
            click.echo(clean(here.to_do))
        if there.state == "broken":
            show_problems(there.problems)
        elif there.is_there:
            click.echo(f"{program.name}: its {other} settings have the hooks too; `ramet hooks remove --scope {other}`")
        if status_line and here.status_line == "foreign":
            click.echo(f"{program.name}: kept its own status line")
