"""`ramet search`: find anything that was said, done or decided, and the command that opens it."""

import shlex
import textwrap
from datetime import datetime
from typing import Any

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.record.project_scope import Scope, everywhere_option, find_project_around, find_scope
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count, print_json
from ramet.cli.screens.styled_lines import Line, Part, print_lines, terminal_width
from ramet.cli.times import ago
from ramet.model.memory.search.hit import KINDS, Hit
from ramet.protocol.memory.search import SearchMemory, SearchPage
from ramet.protocol.record.projects import ListProjects
from ramet.vendors.registry import PREFERRED

_NARROWEST = 40
_INDENT = "  "
_RUNGS = {
    "phrase": "phrase",
    "all": "all words",
    "most": "most words",
    "some": "some words",
    "forms": "similar words",
    "part": "part of a name",
    "error": "same error",
    "semantic": "meaning",
}


@click.command(
    cls=Command,
    examples=[
        "ramet search retry policy",
        "ramet search '\"connection refused\"' --since 7d",
        "ramet search pytest --kind command -A",
        f"ramet search 'agent:{PREFERRED[0]} path:src/cart.py discount'",
        "ramet search retry policy --open",
    ],
)
@click.argument("words", metavar="QUERY...", nargs=-1, required=True)
@click.option("--kind", type=click.Choice(KINDS), help="Find only this kind; commands and output are found only so.")
@click.option("--since", metavar="TIME", help="Find nothing older: an age such as 12h or 7d, or a date.")
@click.option("--agent", metavar="NAME", help="Find only what this agent program, or agent, said or did.")
@click.option("--role", type=click.Choice(["user", "assistant", "system", "tool"]), help="Find only this role.")
@click.option("--path", metavar="PART", help="Find only sessions that touched such a file.")
@click.option("--session", type=references.session, metavar="SESSION", help="Find only this session's texts.")
@click.option("--limit", type=click.IntRange(1, 200), default=10, help="Maximum number of hits (default: 10).")
@click.option("--cursor", metavar="CURSOR", help="Continue after the page that printed this cursor.")
@click.option("--open", "opens", is_flag=True, help="Open the first hit.")
@everywhere_option("Search every project, and show which one each hit is of.")
@click.pass_context
def search(ctx: click.Context, /, words: tuple[str, ...], opens: bool, everywhere: bool, **filters: Any) -> None:
    """Search what agents and people said in this project: prompts, answers, notes, decisions, handoffs, reports.

    All words are looked for first, then fewer, then similar ones; each hit says how it was found. Quoted words are
    found together. Filters can be in the query too: agent: kind: path: project: role: session: since:.

    Below each hit is the command that opens it. If the agent's own program can resume the session, its command follows.
    """
    invocation: Invocation = ctx.obj
    scope = find_scope(invocation, everywhere=everywhere)
    near = _find_own(invocation) if everywhere else None
    page = invocation.ask(SearchMemory(query=" ".join(words), project=scope.project_id, near=near, **filters))
    if opens and page.items:
        return _open(ctx, page.items[0])
    return print_json(page) if invocation.as_json else _print(page, scope)


def _find_own(invocation: Invocation) -> int | None:
    """The project around the current directory, whose hits come first among equal ones of every project."""
    if invocation.target.entrance is not None:
        return None  # an agent's token says where it is
    own = find_project_around(invocation, invocation.ask(ListProjects()).items)
    return None if own is None else own.id


def _open(ctx: click.Context, hit: Hit) -> None:
    """Run the command that shows a hit."""
    root = ctx.find_root()
    assert isinstance(root.command, click.Group)  # noqa: S101
    name, command, arguments = root.command.resolve_command(root, shlex.split(hit.open_with)[1:])
    assert command is not None  # noqa: S101
    with command.make_context(name, arguments, parent=root) as inner:
        command.invoke(inner)


def _print(page: SearchPage, scope: Scope) -> None:
    width = max(min(terminal_width() or 80, 100), _NARROWEST)
    lines: list[Line] = []
    for hit in page.items:
        lines += [*_hit_lines(hit, scope, width), []]
    print_lines(lines[:-1], cut=False)
    if not page.items:
        click.echo(scope.say("nothing was found"))
    for note in _notes(page):
        click.echo(note, err=True)


def _hit_lines(hit: Hit, scope: Scope, width: int) -> list[Line]:
    when = ago(datetime.fromisoformat(hit.time))
    status = None if hit.exit_status is None else f"exit {hit.exit_status}"
    project = scope.name(hit.project_id) if scope.has_column else None
    facts = [hit.kind, hit.agent, f"{when} ago", status, project, hit.title]
    head = "  ".join(clean(fact) for fact in facts if fact)
    rung = _RUNGS[hit.rung]
    room = width - len(hit.place) - len(rung) - 4
    first: Line = [(hit.place, "bold"), (f"  {head[:room]}", ""), (f"  {rung}", "dim")]
    opening = [f"{_INDENT}{hit.open_with}"]
    if hit.resume_with:
        is_short = len(opening[0]) + len(hit.resume_with) + 3 <= width
        opening = [f"{opening[0]} · {hit.resume_with}"] if is_short else [*opening, f"{_INDENT}{hit.resume_with}"]
    return [first, *_snippet_lines(hit, width - len(_INDENT)), *([(line, "dim")] for line in opening)]


def _snippet_lines(hit: Hit, width: int) -> list[Line]:
    """The snippet in lines, with its words highlighted. Each line is as long as its words allow."""
    lines: list[Line] = []
    at = 0
    for row in textwrap.wrap(hit.snippet, width, break_long_words=True, drop_whitespace=True):
        start = hit.snippet.find(row, at)
        start = at if start < 0 else start
        at = start + len(row)
        lines.append([(_INDENT, ""), *_marked(row, start, hit.highlights)])
    return lines


def _marked(row: str, start: int, highlights: list[list[int]]) -> Line:
    parts: list[Part] = []
    at = 0
    for first, last in highlights:
        a, b = max(first - start, at), min(last - start, len(row))
        if a < b:
            parts += [(row[at:a], ""), (row[a:b], "bold yellow")]
            at = b
    return [*parts, (row[at:], "")]


def _notes(page: SearchPage) -> list[str]:
    notes = []
    if page.dropped:
        notes.append(f"left out: {', '.join(page.dropped)}")
    if page.suggestion:
        notes.append(f"did you mean: {page.suggestion}")
    if page.next:
        notes.append(f"more: --cursor {page.next}")
    if page.lag:
        notes.append(f"the index is still {count(page.lag, 'change')} behind")
    return notes
