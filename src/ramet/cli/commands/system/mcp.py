"""`ramet mcp`: the MCP server with the tools for agents, and its entries in settings files."""

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import click

from ramet.cli.command import Group
from ramet.cli.commands.system.settings_changes import (
    DONE,
    UNDONE,
    find_program,
    settings_folder,
    show_differences,
    show_results,
    write,
)
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, pick_cells, print_json, print_table
from ramet.errors import MissingDriver
from ramet.installer.changes import Change
from ramet.mcp import installation
from ramet.vendors import registry

_COLUMNS: Columns[Change] = {
    "PROGRAM": lambda row: row.vendor,
    "STATE": lambda row: row.state,
    "FILE": lambda row: row.file,
}
_VENDORS = registry.names("tools")

_of_vendors = click.argument("vendors", metavar="[PROGRAM]...", nargs=-1, type=click.Choice(_VENDORS))
_dry_run = click.option("--dry-run", is_flag=True, help="Show what would change, and write nothing.")


@click.group(cls=Group, invoke_without_command=True)
@click.pass_context
def mcp(ctx: click.Context) -> None:
    """Serve the tools that agents call: spawn_agent, await_sessions, report, read_output, recall, budget, log, phase.

    Without a command, this is their MCP server on standard input and output. Agents that Ramet starts have it already;
    `install` adds it to agent programs that you start yourself.
    """
    if ctx.invoked_subcommand is None:
        if find_spec("mcp") is None:
            raise MissingDriver("the package mcp is not installed", fix="pip install --upgrade --force-reinstall ramet")
        from ramet.mcp.server import run  # noqa: PLC0415  the SDK takes a second to import

        run(ctx.obj.environ)


@mcp.command(
    examples=[
        "ramet mcp install",
        f"ramet mcp install {' '.join(registry.PREFERRED)}",
        f"ramet mcp install {_VENDORS[-1]} --dry-run",
    ],
    epilog=f"Programs: {', '.join(_VENDORS)}.",
)
@_of_vendors
@_dry_run
@click.pass_obj
def install(invocation: Invocation, vendors: Sequence[str], dry_run: bool) -> None:
    """Add the server to the project settings of agent programs.

    Without PROGRAM, every installed program is set up. Other entries in the files stay unchanged; `remove` restores the
    files byte for byte. The programs' time limits for a call are raised, because an agent that delegates may wait long.
    """
    known = registry.tools()
    names = vendors or [name for name, vendor in known.items() if find_program(invocation, vendor.program)]
    if not names:
        raise click.UsageError(f"no agent program is installed; choose one: {', '.join(_VENDORS)}.")
    changes = [installation.plan_install(name, _place(invocation, name), command_name(invocation)) for name in names]
    _carry_out(invocation, changes, DONE, dry_run=dry_run)


@mcp.command(examples=["ramet mcp remove", f"ramet mcp remove {registry.PREFERRED[-1]} --dry-run"])
@_of_vendors
@_dry_run
@click.pass_obj
def remove(invocation: Invocation, vendors: Sequence[str], dry_run: bool) -> None:
    """Remove the server from the project settings of agent programs. Other entries stay unchanged."""
    changes = [installation.plan_remove(name, _place(invocation, name)) for name in vendors or _VENDORS]
    _carry_out(invocation, changes, UNDONE, dry_run=dry_run)


@mcp.command(examples=["ramet mcp status"])
@click.pass_obj
def status(invocation: Invocation) -> None:
    """Show which agent programs have the server in their project settings."""
    changes = [installation.plan_install(name, _place(invocation, name), command_name(invocation)) for name in _VENDORS]
    if invocation.as_json:
        items = [{"vendor": change.vendor, "file": str(change.file), "state": change.state} for change in changes]
        return print_json({"items": items})
    return print_table(list(_COLUMNS), pick_cells(changes, _COLUMNS))


def _carry_out(invocation: Invocation, changes: list[Change], words: dict[str, str], *, dry_run: bool) -> None:
    """All are planned before the first is written: if one file cannot be read, none is changed."""
    if not dry_run:
        write(invocation, changes)
    if not invocation.as_json:
        show_differences(changes)
    show_results(invocation, changes, words, dry_run=dry_run)


def _place(invocation: Invocation, name: str) -> installation.Place:
    return installation.find_place(name, settings_folder(invocation))


def command_name(invocation: Invocation) -> str:
    """`ramet` if it is in PATH; otherwise its path on this machine."""
    return "ramet" if find_program(invocation, "ramet") else str(Path(sys.argv[0]).resolve())
