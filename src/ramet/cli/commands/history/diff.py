"""`ramet history diff`: how two contexts differ."""

import click
from msgspec.structs import replace

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.history_places import find_place
from ramet.cli.invocation import Invocation
from ramet.cli.output import count, paged, print_json
from ramet.cli.screens.commit_lines import one_line, short, tell
from ramet.cli.screens.styled_lines import Line, print_lines
from ramet.protocol.history.contexts import Diff, DiffReply
from ramet.protocol.pages import Place, follow_places

_PAGE = 100_000
"""Lines. The daemon compares again for each page."""
_STYLES = {"+": "green", "-": "red", "@": "cyan"}


@click.command(
    cls=Command,
    examples=[
        "ramet history diff main side",
        "ramet history diff 3f9c2b7a main --stat",
        "ramet history diff s7 s8 --json",
    ],
)
@click.argument("a", metavar="BRANCH|HASH", type=references.place)
@click.argument("b", metavar="BRANCH|HASH", type=references.place)
@click.option("--stat", is_flag=True, help="Show only the amount of difference.")
@click.pass_obj
def diff(invocation: Invocation, a: str, b: str, stat: bool) -> None:
    """List the commits that only one of two branches has, and compare the compiled texts."""
    reply = _ask(invocation, Diff(a=find_place(invocation, a), b=find_place(invocation, b)))
    if invocation.as_json:
        return print_json(reply)
    lines = reply.text.split("\n") if reply.text else []
    if stat:
        return print_lines(_stat(reply, a, b, lines), cut=False)
    with paged(invocation):
        for name, rows in ((a, reply.only_a), (b, reply.only_b)):
            if rows:
                print_lines([[(f"only in {name}:", "bold")]], cut=False)
                print_lines([[("  ", ""), *one_line(told, ())] for told in tell(invocation, rows)], cut=True)
        if lines:
            print_lines([[("", "")], *([(line, _style(line))] for line in lines)], cut=False)
        elif not reply.is_too_large:
            click.echo("a model gets the same text from both")
    if reply.is_too_large:
        click.echo("the compiled texts are too large to compare", err=True)
    return None


def _ask(invocation: Invocation, request: Diff) -> DiffReply:
    """The whole diff, which is asked for in pages."""

    def read(place: Place) -> DiffReply:
        cursor = None if place.cursor is None else str(place.cursor)
        return invocation.ask(replace(request, limit=place.limit, cursor=cursor))

    pages = list(follow_places(read, Place(_PAGE, None)))
    return replace(pages[0], text="\n".join(page.text for page in pages), next=None)


def _stat(reply: DiffReply, a: str, b: str, lines: list[str]) -> list[Line]:
    body = lines[2:]
    added, removed = (sum(line.startswith(sign) for line in body) for sign in "+-")
    base = f"they diverge at {short(reply.base)}" if reply.base else "they have nothing in common"
    return [
        [(base, "")],
        [(f"only in {a}: {count(len(reply.only_a), 'commit')}", "")],
        [(f"only in {b}: {count(len(reply.only_b), 'commit')}", "")],
        [("compiled text: ", ""), (f"+{added}", "green"), (" ", ""), (f"-{removed}", "red"), (" lines", "")],
    ]


def _style(line: str) -> str:
    return "bold" if line.startswith(("+++", "---")) else _STYLES.get(line[:1], "")
