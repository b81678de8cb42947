"""A group whose commands are named in a table and imported only when they run.

`ramet --help` therefore costs little more than click itself.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from ramet.cli.command import Group

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Commands = dict[str, tuple[str, str]]
"""The commands of one section by their names. Each: `module:attribute`, and its line in the help."""


class CommandTable(Group):
    """Knows its commands by name, under headings, and imports one when it runs."""

    def __init__(self, *args: Any, sections: dict[str, Commands], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sections = sections
        self.purposes = {name: row[1] for section in sections.values() for name, row in section.items()}
        self._places = {name: row[0] for section in sections.values() for name, row in section.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self._places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in self._places:
            return None
        module, _, attribute = self._places[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def complete_commands(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """The names from the table: completion imports no command either."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415

        found = {name: purpose for name, purpose in self.purposes.items() if name.startswith(incomplete)}
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(name, help=purpose) for name, purpose in found.items()), *options]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        width = max(map(len, self._places))
        for heading, commands in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:{width}}", purpose) for name, (_, purpose) in commands.items()])
