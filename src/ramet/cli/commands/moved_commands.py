"""The old names of commands that moved below a noun, and where each is now.

They are in no help and no completion. `ramet log s7` fails and prints what to type: `ramet history log s7`.
"""

import shlex
import sys

import click

from ramet.cli.command import UnknownCommand

_CONTEXT_VERBS = "log compile expand commit branch merge pick edit compress reset pin skip annotate tag gc"

MOVED: dict[tuple[str, ...], tuple[str, ...]] = {
    **{("branch", verb): ("history", verb) for verb in ("spawn", "collapse", "moves")},
    **{(verb,): ("history", verb) for verb in _CONTEXT_VERBS.split()},
}
"""What was typed after `ramet`, and what to type now. `branch spawn` is found before `branch`."""


def refuse_moved(ctx: click.Context, arguments: list[str]) -> None:
    """Fail if the arguments of `ramet` start with an old name; the fix is the whole line as it is typed now."""
    for old, new in MOVED.items():
        if tuple(arguments[: len(old)]) == old:
            ctx.obj.as_json |= "--json" in arguments  # which no command has parsed
            options = sys.argv[1 : len(sys.argv) - len(arguments)]
            line = shlex.join(["ramet", *options, *new, *arguments[len(old) :]])
            raise UnknownCommand(f"`ramet {' '.join(old)}` is now `ramet {' '.join(new)}`", ctx, fix=line)
