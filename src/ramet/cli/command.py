"""What every command has: examples in its help, and `--json`."""

from collections.abc import Sequence
from typing import Any

import click


def json_option() -> click.Option:
    """`--json`, which the errors of a command heed as well."""
    return click.Option(
        ["--json"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_remember_json,
        help="Answer with one JSON document.",
    )


def _remember_json(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        ctx.obj.as_json = True


class Command(click.Command):
    """A command whose help ends with examples, and which can answer in JSON."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples
        self.params.append(json_option())

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        with formatter.section("Examples"):
            formatter.write("".join(f"{' ' * formatter.current_indent}{line}\n" for line in self.examples))


class Group(click.Group):
    """A noun and its verbs. Alone it explains itself, which is no error, unless it does something alone."""

    command_class = Command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not self.invoke_without_command:
            click.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)
