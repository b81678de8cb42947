"""What every command has: examples in its help, `--json`, and a suggestion for a name that is misspelt."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from click.types import FuncParamType

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_SIMILAR = 0.7
"""`wrok` is close enough to `work`; `restore` is not close enough to `reset`, which deletes."""

_LEADS_NOWHERE = "ramet.leads_nowhere"


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


class _Reference(FuncParamType):  # type: ignore[type-arg]  # generic in newer versions of click only
    """A parameter that one of `ramet.cli.references` reads: a shell completes the names of that kind."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        found: list[CompletionItem] | None = ctx.find_root().obj.list_candidates(ctx, self.name, incomplete)
        return super().shell_complete(ctx, param, incomplete) if found is None else found


class Command(click.Command):
    """A command whose help ends with examples, and which can print JSON."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples
        self.params.append(json_option())
        for param in self.params:
            if isinstance(param.type, FuncParamType):
                param.type = _Reference(param.type.func)

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
        ctx.meta[_LEADS_NOWHERE] = not is_known
        if not is_known and not ctx.resilient_parsing and not name.startswith("-"):
            ctx.obj.as_json |= "--json" in args  # which no command has parsed
            raise UnknownCommand(f"`{ctx.command_path} {name}` is not a command", ctx, fix=self._suggest(ctx, name))
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        # Behind a name that is no command, click would offer the commands again.
        return [] if ctx.meta.get(_LEADS_NOWHERE) else self.complete_commands(ctx, incomplete)

    def complete_commands(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """The commands and options that a shell offers."""
        return super().shell_complete(ctx, incomplete)

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
