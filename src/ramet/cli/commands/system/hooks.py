"""`ramet hooks`: what agent programs tell Ramet while they work, and the files that make them do so."""

from collections.abc import Sequence
from typing import Any, get_args

import click

from ramet.cli.command import Group
from ramet.cli.commands.system.hook_states import (
    Installed,
    find_problems,
    look,
    look_at,
    look_at_hook_program,
    settings_file,
)
from ramet.cli.commands.system.overridden_settings import find_unheeded, show_problems
from ramet.cli.commands.system.settings_changes import (
    DONE,
    UNDONE,
    confirm,
    find_program,
    show_differences,
    show_results,
    write,
)
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, clean, pick_cells, print_json, print_table
from ramet.hooks import installation
from ramet.hooks.program import find_own, write_program
from ramet.installer.changes import Change
from ramet.vendors import registry
from ramet.vendors.contract.hook_settings import Program, Scope

_COLUMNS: Columns[Installed] = {
    "PROGRAM": lambda row: row.vendor,
    "SCOPE": lambda row: row.scope,
    "STATE": lambda row: row.state,
    "FILE": lambda row: row.file,
}
_PROGRAMS = registry.settings()

_agents = click.option(
    "--agent", "names", multiple=True, type=click.Choice(list(_PROGRAMS)), help="Which program; may be repeated."
)
_scope = click.option(
    "--scope",
    type=click.Choice(get_args(Scope)),
    default="project",
    show_default=True,
    help="The settings of this project, which everybody who works on it shares; or your own.",
)
status_line_option = click.option(
    "--status-line",
    is_flag=True,
    help=f"Let {' and '.join(registry.with_status_line().values())} show `[2:impl:P3]` below its prompt as well.",
)
_dry_run = click.option("--dry-run", is_flag=True, help="Only show what would change.")
_yes = click.option("--yes", is_flag=True, help="Do not ask.")


@click.group(cls=Group, epilog=f"Programs: {', '.join(_PROGRAMS)}.")
def hooks() -> None:
    """What agents that you start yourself tell Ramet while they work.

    They then stand in `ramet ps`, are told what they should know, and lose nothing when their context is compacted.
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
    """Write our hooks into agent programs' settings, after showing the difference.

    Without --agent: those that are installed. What else is in the files stays as it is; `remove` restores them to the
    last byte, and a copy of what they said is kept. Entries of ours that somebody has changed are made again.
    """
    programs = [_PROGRAMS[name] for name in names] or find_installed(invocation)
    if not programs:
        raise click.UsageError(f"none of the programs is installed; name one with --agent: {', '.join(_PROGRAMS)}.")
    planned = plan(invocation, programs, scope, status_line=status_line)
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
    return None if invocation.as_json else _advise(invocation, programs, scope, status_line=status_line)


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
    """Take out of agent programs' settings what `install` wrote, and nothing else."""
    planned = plan_removal(invocation, [_PROGRAMS[name] for name in names or _PROGRAMS], scope)
    if not dry_run:
        if not yes and not confirm(invocation, planned, "remove"):
            return click.echo("nothing was written", err=True)
        write(invocation, planned)
    return _show(invocation, planned, UNDONE, shown=not yes and not dry_run, dry_run=dry_run)


@hooks.command(examples=["ramet hooks status", "ramet hooks status --json"])
@click.pass_context
def status(ctx: click.Context) -> None:
    """Which programs have our hooks, and whether somebody has changed them. Exits with 1 where something is wrong."""
    invocation: Invocation = ctx.obj
    found, hook_program = look(invocation), look_at_hook_program(invocation)
    problems = list(find_problems(found, hook_program))
    unheeded = list(find_unheeded(invocation)) if any(each.is_there for each in found) else []
    if invocation.as_json:
        print_json(
            {
                "items": [each.as_json() for each in found],
                "hook_program": hook_program.as_json(),
                "unheeded": [each._asdict() for each in unheeded],
            }
        )
    else:
        print_table(list(_COLUMNS), pick_cells(found, _COLUMNS))
        show_problems([*problems, *unheeded])
        for each in found:
            if each.to_do:
                click.echo(clean(f"{each.name}: {each.to_do}"))
    if problems:
        ctx.exit(1)


def plan(
    invocation: Invocation, programs: Sequence[Program], scope: Scope, *, status_line: bool = False
) -> list[Change]:
    """What would be written for some programs. All are planned before the first is written."""
    return [
        installation.plan_install(program, settings_file(invocation, program, scope), status_line=status_line)
        for program in programs
    ]


def plan_removal(invocation: Invocation, programs: Sequence[Program], scope: Scope) -> list[Change]:
    """What would be taken out again."""
    return [installation.plan_remove(program, settings_file(invocation, program, scope)) for program in programs]


def find_installed(invocation: Invocation) -> list[Program]:
    """The programs that are on this machine."""
    return [program for program in _PROGRAMS.values() if find_program(invocation, program.name)]


def _show(
    invocation: Invocation, planned: list[Change], words: dict[str, str], *, shown: bool, dry_run: bool, **more: Any
) -> None:
    """The differences, where nobody was asked about them, and the results."""
    if not shown and not invocation.as_json:
        show_differences(planned)
    show_results(invocation, planned, words, dry_run=dry_run, **more)


def _advise(invocation: Invocation, programs: Sequence[Program], scope: Scope, *, status_line: bool) -> None:
    """What is left to do, and what a person might not expect."""
    other: Scope = "user" if scope == "project" else "project"
    for program in programs:
        here, there = look_at(invocation, program, scope), look_at(invocation, program, other)
        if here.to_do:
            click.echo(clean(here.to_do))
        if there.state == "broken":
            show_problems(there.problems)
        elif there.is_there:
            click.echo(f"{program.name}: its {other} settings have our hooks too; `ramet hooks remove --scope {other}`")
        if status_line and here.status_line == "foreign":
            click.echo(f"{program.name}: has another status line, which stays")
