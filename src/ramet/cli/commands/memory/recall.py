"""`ramet recall`, `fix`, `how` and `files`: short answers from what agents did before.

An answer is at most 4 KB, as agents get it. If nothing relevant is on record, nothing is printed and the exit status
is 1.
"""

import shutil
import sys
import textwrap

import click

from ramet.cli.command import Command
from ramet.cli.commands.record.project_scope import everywhere_option, find_scope
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, clean, pick_cells, print_json, print_table
from ramet.cli.times import ago_text
from ramet.model.memory.recollection import Mode, Recollection
from ramet.protocol.memory.recall import Recall, Recalled

EXIT_NOTHING = 1
_QUOTE = "> "

_COMMANDS: Columns[Recollection] = {
    "PLACE": lambda row: row.place,
    "EXIT": lambda row: row.exit_status,
    "TIMES": lambda row: row.times,
    "AGE": lambda row: ago_text(row.time),
    "COMMAND": lambda row: row.text,
}
_FILES: Columns[Recollection] = {
    "PLACE": lambda row: row.place,
    "SESSIONS": lambda row: row.times,
    "AGE": lambda row: ago_text(row.time),
    "FILE": lambda row: row.text,
}


@click.command(
    cls=Command,
    examples=[
        'ramet recall "why is the cart locked"',
        "ramet recall s7:120        # open a place of an answer",
        "ramet recall -A webhook signature",
    ],
)
@click.argument("query", metavar="QUERY|PLACE", nargs=-1, required=True)
@everywhere_option("Search every project.")
@click.pass_context
def recall(ctx: click.Context, query: tuple[str, ...], everywhere: bool) -> None:
    """Show what earlier sessions know about QUERY, or what is around a PLACE such as s7:120, s7 or e12.

    Prints at most 4 KB. Exits with 1 if nothing relevant is on record.
    """
    found = _ask(ctx, "recall", query, everywhere=everywhere)
    _finish(ctx, found)


@click.command(
    cls=Command,
    examples=["ramet fix \"ModuleNotFoundError: No module named 'yaml'\"", "make test 2>&1 | tail -1 | ramet fix -"],
)
@click.argument("error", metavar="ERROR", nargs=-1, required=True)
@everywhere_option("Search every project.")
@click.pass_context
def fix(ctx: click.Context, error: tuple[str, ...], everywhere: bool) -> None:
    """Show what ended ERROR before: the commands and edits after which the same command succeeded.

    `-` reads the error from standard input. Exits with 1 if nothing relevant is on record.
    """
    found = _ask(ctx, "fix", error, everywhere=everywhere)
    _finish(ctx, found)


@click.command(cls=Command, examples=["ramet how docker", "ramet how 'alembic upgrade'", "ramet how -A gh --json"])
@click.argument("tool", metavar="TOOL", nargs=-1, required=True)
@everywhere_option("Search every project.")
@click.pass_context
def how(ctx: click.Context, tool: tuple[str, ...], everywhere: bool) -> None:
    """List the commands of TOOL that worked, the most repeated first, with their exit status.

    Exits with 1 if nothing relevant is on record.
    """
    found = _ask(ctx, "how", tool, everywhere=everywhere)
    _finish(ctx, found, _COMMANDS, cut="COMMAND")


@click.command(cls=Command, examples=["ramet files login", "ramet files 'rate limit' --json"])
@click.argument("topic", metavar="TOPIC", nargs=-1, required=True)
@everywhere_option("Search every project.")
@click.pass_context
def files(ctx: click.Context, topic: tuple[str, ...], everywhere: bool) -> None:
    """List the files that sessions about TOPIC touched.

    Exits with 1 if nothing relevant is on record.
    """
    found = _ask(ctx, "files", topic, everywhere=everywhere)
    _finish(ctx, found, _FILES, cut="FILE")


def _ask(ctx: click.Context, mode: Mode, words: tuple[str, ...], *, everywhere: bool) -> Recalled:
    invocation: Invocation = ctx.obj
    query = sys.stdin.read() if words == ("-",) else " ".join(words)
    if not query.strip():
        raise click.UsageError("the text to look for is empty.")
    scope = find_scope(invocation, everywhere=everywhere)
    return invocation.ask(Recall(query=query, mode=mode, project=scope.project_id))


def _finish(
    ctx: click.Context, found: Recalled, columns: Columns[Recollection] | None = None, cut: str | None = None
) -> None:
    if ctx.obj.as_json:
        print_json(found)
    elif columns is not None and found.items:
        print_table(list(columns), pick_cells(found.items, columns), cut)
    elif found.text:
        click.echo("\n".join(_wrap(line) for line in clean(found.text).splitlines()))
    if not found.text:
        if not ctx.obj.as_json:
            click.echo("nothing relevant is on record", err=True)
        ctx.exit(EXIT_NOTHING)


def _wrap(line: str) -> str:
    """A line of a terminal; anything else gets it whole."""
    width = shutil.get_terminal_size().columns
    if not sys.stdout.isatty() or len(line) <= width:
        return line
    prefix = _QUOTE if line.startswith(_QUOTE) else "  "
    return textwrap.fill(line, width, subsequent_indent=prefix, break_on_hyphens=False)
