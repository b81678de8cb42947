"""`ramet history log`: the commits of branches, as a list or as a graph."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.exchanges import ask_many
from ramet.cli.history_places import Start, find_start
from ramet.cli.invocation import Invocation
from ramet.cli.output import paged, print_json
from ramet.cli.screens.commit_graph import Drawing, Node, draw
from ramet.cli.screens.commit_lines import (
    Told,
    one_line,
    summary,
    tell,
    title,
)
from ramet.cli.screens.lineage import (
    Heads,
    Parents,
    by_line,
    by_time,
    find_parents,
    link,
)
from ramet.cli.screens.styled_lines import Line, is_unicode, print_lines
from ramet.protocol.history.branches import BranchRow, ListBranches
from ramet.protocol.history.commits import CommitRow, Log
from ramet.protocol.pages import begin, follow
from ramet.protocol.replies import Page

_USUAL = 20
_PAGE = 1000
_UNREAD = ("metadata", "config")


@click.command(
    cls=Command,
    examples=[
        "ramet history log main",
        "ramet history log main -n 100 --oneline",
        "ramet history log --graph",
        "ramet history log main research --graph --oneline",
        "ramet history log s7",
        "ramet history log 3f9c2b7a",
        "ramet history log main~10",
    ],
)
@click.argument("refs", metavar="[BRANCH|HASH|SESSION]...", nargs=-1, type=references.place)
@click.option("-n", "--limit", type=click.IntRange(min=1), help=f"Show at most this many commits (default: {_USUAL}).")
@click.option("--graph", is_flag=True, help="Draw how branches fork and merge.")
@click.option("--oneline", is_flag=True, help="Print one line per commit.")
@click.pass_obj
def log(invocation: Invocation, refs: tuple[str, ...], limit: int | None, graph: bool, oneline: bool) -> None:
    """List the commits of branches, newest first (default: all branches).

    In the graph ● is a commit, ○ one that no model reads (skipped, or written by Ramet itself), and ◆ a merge, a
    summary or a collapse.
    """
    branches = invocation.ask(ListBranches()).items
    most = limit or _USUAL
    if len(refs) == 1 and not graph and not invocation.as_json:
        return _show_as_read(invocation, find_start(invocation, refs[0]), _heads(branches), limit, oneline=oneline)
    pages = _read(invocation, branches, refs, most)
    if len(refs) == 1 and invocation.as_json:
        return print_json(pages[0])
    rows = {row.hash: row for page in pages for row in page.items}
    newest = [rows[name] for name in by_time(rows, find_parents(rows.values()))][:most]
    if invocation.as_json:
        return print_json({"items": newest, "next": None})
    told = tell(invocation, newest)
    with paged(invocation):
        _show(told, _heads(branches), graph=graph, oneline=oneline)
    if not newest:
        click.echo("no commits yet: `ramet history commit BRANCH TEXT`")
    if limit is None and (len(rows) > most or any(page.next is not None for page in pages)):
        _say_more(most)
    return None


def _read(
    invocation: Invocation, branches: Sequence[BranchRow], refs: Sequence[str], limit: int
) -> list[Page[CommitRow]]:
    """The newest commits that lead to each reference, a page for each."""
    starts = [find_start(invocation, ref) for ref in refs] or [Start(branch=row.name) for row in branches]
    pages = ask_many(invocation, [Log(branch=start.branch, hash=start.hash, limit=limit) for start in starts])
    return [_read_on(invocation, start, page, limit) for start, page in zip(starts, pages, strict=True)]


def _read_on(invocation: Invocation, start: Start, page: Page[CommitRow], limit: int) -> Page[CommitRow]:
    """A page has a longest length; what is missing comes in further ones."""
    missing = limit - len(page.items)
    if not isinstance(page.next, int) or missing <= 0:
        return page
    more = begin(invocation.ask, Log(branch=start.branch, hash=start.hash, cursor=page.next), missing)
    return Page(items=[*page.items, *more.items], next=more.next)


def _show_as_read(invocation: Invocation, start: Start, heads: Heads, limit: int | None, *, oneline: bool) -> None:
    """The commits that lead to one reference, each page printed when it is there: a branch may have very many."""
    left, has_more = limit or _USUAL, False
    with paged(invocation):
        for page in follow(invocation.ask, Log(branch=start.branch, hash=start.hash, limit=min(left, _PAGE))):
            if not page.items:
                click.echo("no commits yet: `ramet history commit BRANCH TEXT`")
            _show(tell(invocation, page.items[:left]), heads, graph=False, oneline=oneline)
            has_more = len(page.items) > left or page.next is not None
            left -= len(page.items)
            if left <= 0:
                break
    if limit is None and has_more:
        _say_more(_USUAL)


def _say_more(most: int) -> None:
    click.echo(f"more commits exist: -n {5 * most} shows them", err=True)


def _heads(branches: Sequence[BranchRow]) -> Heads:
    heads: dict[str, list[str]] = defaultdict(list)
    for row in branches:
        if row.hash is not None:
            heads[row.hash].append(row.name)
    return heads


def _show(told: Sequence[Told], heads: Heads, *, graph: bool, oneline: bool) -> None:
    if not graph:
        return print_lines((line for each in told for line in _lines(each, heads, oneline=oneline)), cut=True)
    parents = link(told, heads)
    by_name = {each.row.hash: each for each in told}
    order = [by_name[name] for name in by_line(list(by_name), parents)]
    drawings = draw([_node(each, parents) for each in order], unicode=is_unicode())
    return print_lines(_beside(order, drawings, lambda each: _lines(each, heads, oneline=oneline)), cut=True)


def _lines(told: Told, heads: Heads, *, oneline: bool) -> list[Line]:
    names = heads.get(told.row.hash, ())
    if oneline:
        return [one_line(told, names)]
    return [title(told, names), [(f"    {summary(told)}", "")]]


def _beside(order: Sequence[Told], drawings: Iterator[Drawing], text: Callable[[Told], list[Line]]) -> Iterator[Line]:
    """The picture on the left, the words on the right."""
    for told, drawing in zip(order, drawings, strict=True):
        yield from drawing.before
        first, *others = text(told)
        yield [*drawing.line, *first]
        for other in others:
            yield [*drawing.below, *other]
        yield from drawing.after


def _node(told: Told, parents: Parents) -> Node:
    row = told.row
    is_unread = row.priority == "skip" or row.content_type in _UNREAD
    mark = "◆" if told.kind in ("merge", "collapse", "compression") else "○" if is_unread else "●"
    shown = parents[row.hash]
    return Node(row.hash, shown, mark, goes_on=row.parent is not None and row.parent not in shown)
