"""`ramet help`: the first screen, the help of a command, or every command there is."""

from collections.abc import Iterator
from typing import NamedTuple

import click

from ramet.cli.command import Command, Group
from ramet.cli.commands.command_table import CommandTable
from ramet.cli.invocation import Invocation
from ramet.cli.output import paged, print_json


class Entry(NamedTuple):
    """One command in the list of all."""

    section: str
    command: str
    purpose: str


@click.command(
    "help",
    cls=Command,
    examples=["ramet help", "ramet help run", "ramet help history log", "ramet help --all"],
)
@click.argument("names", metavar="[COMMAND]...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="List every command and the options that all of them have.")
@click.pass_context
def help_command(ctx: click.Context, names: tuple[str, ...], every: bool) -> None:
    """Show the first screen, the help of COMMAND, or with --all every command."""
    root = ctx.find_root()
    if every:
        return _show_every(ctx.obj, root)
    return click.echo(_find(root, list(names)).get_help())


def _find(context: click.Context, names: list[str]) -> click.Context:
    """The context in which the named command shows its help."""
    while names and isinstance(context.command, Group):
        name, command, names = context.command.resolve_command(context, names)
        if command is not None:
            context = click.Context(command, info_name=name, parent=context, obj=context.obj)
    return context


def _show_every(invocation: Invocation, root: click.Context) -> None:
    entries = list(_list(root))
    if invocation.as_json:
        return print_json({"items": [entry._asdict() for entry in entries], "next": None})
    formatter = root.make_formatter()
    width = max(len(entry.command) for entry in entries)
    for section in dict.fromkeys(entry.section for entry in entries):
        with formatter.section(section):
            rows = [(f"{each.command:{width}}", each.purpose) for each in entries if each.section == section]
            formatter.write_dl(rows)
    click.Command.format_options(root.command, root, formatter)
    with paged(invocation):
        click.echo(formatter.getvalue().strip("\n"))
    return None


def _list(root: click.Context) -> Iterator[Entry]:
    """Every command in the order of the first screen, the commands of a group after it."""
    table = root.command
    assert isinstance(table, CommandTable)  # noqa: S101
    for section, commands in table.sections.items():
        for name, (_, purpose) in commands.items():
            yield Entry(section, name, purpose)
            group = table.get_command(root, name)
            if isinstance(group, click.Group):
                yield from _list_group(section, click.Context(group, info_name=name, parent=root), name)


def _list_group(section: str, context: click.Context, path: str) -> Iterator[Entry]:
    group = context.command
    assert isinstance(group, click.Group)  # noqa: S101
    for verb in group.list_commands(context):
        command = group.get_command(context, verb)
        if command is None or command.hidden:
            continue
        yield Entry(section, f"{path} {verb}", command.get_short_help_str(200))
        if isinstance(command, click.Group):
            inner = click.Context(command, info_name=verb, parent=context)
            yield from _list_group(section, inner, f"{path} {verb}")
