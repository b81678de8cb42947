"""What every command has: examples in its help, `--json`, and a suggestion for a name that is misspelt."""

from collections.abc import Sequence
from typing import Any

import click

_SIMILAR = 0.7
"""`wrok` is close enough to `work`; `restore` is not close enough to `reset`, which deletes."""


def json_option() -> click.Option:
    """`--json`, which changes how a command fails, too."""
    return click.Option(
        ["--json"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_remember_json,
        help="Print one JSON document.",
    )


def _remember_json(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        ctx.obj.as_json = True


class UnknownCommand(click.UsageError):
    """A name that is no command, or no longer one. `fix` says what to type."""

    def __init__(self, message: str, ctx: click.Context, *, fix: str) -> None:
        super().__init__(message, ctx)
        self.fix = fix


class Command(click.Command):
    """A command whose help ends with examples, and which can print JSON."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples
        self.params.append(json_option())

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        with formatter.section("Examples"):
            formatter.write("".join(f"{' ' * formatter.current_indent}{line}\n" for line in self.examples))


class Group(click.Group):
    """A noun and its verbs. Alone it prints its help, which is no error, unless it does something alone."""

    command_class = Command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # Completion parses half a line: it must never print.
        if not args and not self.invoke_without_command and not ctx.resilient_parsing:
            click.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        is_known = self.get_command(ctx, name) is not None
        if not is_known and not ctx.resilient_parsing and not name.startswith("-"):
            ctx.obj.as_json |= "--json" in args  # which no command has parsed
            raise UnknownCommand(f"`{ctx.command_path} {name}` is not a command", ctx, fix=self._suggest(ctx, name))
        return super().resolve_command(ctx, args)

    def suggestions(self, ctx: click.Context) -> dict[str, str]:
        """The names that a person may have meant, and the commands that they name."""
        return {name: f"{ctx.command_path} {name}" for name in self.list_commands(ctx)}

    def _suggest(self, ctx: click.Context, name: str) -> str:
        from difflib import get_close_matches  # noqa: PLC0415

        known = self.suggestions(ctx)
        swapped = [each for each in known if sorted(each) == sorted(name)]  # `lgo`, which is too short to be similar
        close = swapped or get_close_matches(name, known, n=3, cutoff=_SIMILAR)
        every = f"`{ctx.command_path} --help` lists the commands"
        return f"did you mean {' or '.join(f'`{known[each]}`' for each in close)}? {every}" if close else every
