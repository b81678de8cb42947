"""Trees of sessions: each session on a line below the one that spawned it."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ramet.cli.output import clean, count
from ramet.cli.screens.agent_names import doing, session_name
from ramet.cli.screens.board import short_number
from ramet.cli.screens.effort_lines import cost, dollars, first_line, sum_costs
from ramet.cli.screens.states import status_word, style_of
from ramet.cli.screens.styled_lines import Column, Line, Part, draw_table, is_unicode, plain
from ramet.cli.times import ago, duration, seconds_between
from ramet.model.spawn.child import TreeRow


class _Placed(NamedTuple):
    """A session, and how its line starts."""

    row: TreeRow
    art: str
    """The branches of the tree that lead to it."""
    name: str
    is_named: bool
    """Whether the person asked for this one."""


def word(row: TreeRow) -> str:
    """The outcome of a session, or what it is doing."""
    return row.outcome or status_word(row.status)


def is_over(rows: Sequence[TreeRow]) -> bool:
    """Whether every session has ended."""
    return all(row.ended_at is not None for row in rows)


def draw(
    rows: Sequence[TreeRow],
    named: Collection[int] = (),
    width: int | None = None,
    *,
    projects: Mapping[int, str] | None = None,
) -> list[Line]:
    """The trees of some sessions, under headings; those that a person asked for stand out. With the projects' names,
    each row says its project.
    """
    efforts: dict[int | None, int] = {row.id: row.effort_id for row in rows}
    own = [row for row in rows if row.is_queued and efforts.get(row.parent_session_id) != row.effort_id]
    newest = {row.effort_id: row.id for row in sorted(own, key=lambda row: row.id)}
    placed = [
        _Placed(row, art, session_name(row, is_newest=newest.get(row.effort_id) == row.id), row.id in named)
        for art, row in _place(rows)
    ]
    agent, *others = _columns(rows)
    known = projects or {}
    project = Column[_Placed]("PROJECT", lambda each: plain(known.get(each.row.project_id or 0)))
    return draw_table([agent, *([] if projects is None else [project]), *others], placed, width)


def summary(rows: Sequence[TreeRow]) -> str:
    """`4 sessions: 2 success, 1 running, 1 budget; 12,410 tokens, $0.31`."""
    words = ", ".join(f"{number} {each}" for each, number in Counter(map(word, rows)).most_common())
    used = [count(number, "token")] if (number := sum(row.tokens for row in rows)) else []
    used += list(filter(None, [cost(sum_costs(map(_own_cost, rows)))]))
    return f"{count(len(rows), 'session')}: {words}" + (f"; {', '.join(used)}" if used else "")


def used(row: TreeRow) -> str:
    """`12s, 1,204 tokens, $0.03`: how long a session took, and what it used, including everything below it."""
    tokens = count(row.total_tokens, "token") if row.total_tokens else None
    return ", ".join(filter(None, [_took(row), tokens, _total_cost(row)]))


def _own_cost(row: TreeRow) -> dict[str, Any]:
    return {"cost_usd": row.cost_usd, "is_cost_estimated": row.is_cost_estimated}


def _place(rows: Sequence[TreeRow]) -> Iterator[tuple[str, TreeRow]]:
    """Each session with the branches before its name. A session that continues another one follows it directly."""
    last, other, line, gap = ("└─ ", "├─ ", "│  ", "   ") if is_unicode() else ("`- ", "|- ", "|  ", "   ")
    known: dict[int | None, TreeRow] = {row.id: row for row in rows}
    below: dict[int | None, list[TreeRow]] = {}
    for row in sorted(rows, key=lambda row: (_first(row, known), row.id)):
        parent = row.parent_session_id
        below.setdefault(parent if parent in known else None, []).append(row)
    ahead = [("", "", row) for row in reversed(below.get(None, []))]
    while ahead:
        art, indent, row = ahead.pop()
        yield art, row
        children = below.get(row.id, [])
        for index, child in reversed(list(enumerate(children, 1))):
            is_last = index == len(children)
            ahead.append((indent + (last if is_last else other), indent + (gap if is_last else line), child))


def _first(row: TreeRow, known: Mapping[int | None, TreeRow]) -> int:
    """The first of the sessions that this one continues."""
    while (before := known.get(row.prev_session_id)) and before.parent_session_id == row.parent_session_id:
        row = before
    return row.id


def _columns(rows: Sequence[TreeRow]) -> Iterator[Column[_Placed]]:
    """Who, in which state, since when, at what cost and what it does now; the rest if there is room for it."""
    has_more = any(row.total_tokens != row.tokens or row.total_cost_usd != row.cost_usd for row in rows)
    yield Column("AGENT", lambda each: [(each.art, "dim"), (each.name, "bold green" if each.is_named else "bold")])
    yield Column("STATE", lambda each: [(word(each.row), style_of(word(each.row)))])
    yield Column("AGE", lambda each: plain(ago(each.row.created_at)), is_number=True)
    yield Column("COST", lambda each: plain(cost(_own_cost(each.row))), is_number=True)
    if has_more:
        yield Column("+BELOW", lambda each: plain(_total_cost(each.row)), is_number=True, is_extra=True)
    yield Column("TOOK", lambda each: plain(_took(each.row)), is_number=True, is_extra=True)
    if any(row.tokens for row in rows):
        yield Column("TOKENS", lambda each: plain(short_number(each.row.tokens)), is_number=True, is_extra=True)
        if has_more:
            yield Column(
                "+BELOW", lambda each: plain(short_number(each.row.total_tokens)), is_number=True, is_extra=True
            )
    yield Column("SESSION", lambda each: plain(f"s{each.row.id}"), is_extra=True)
    yield Column("SKILL", lambda each: plain(each.row.skill), is_extra=True)
    yield Column("NOW", lambda each: _now(each.row))


def _total_cost(row: TreeRow) -> str | None:
    return dollars(row.total_cost_usd, is_estimated=row.is_total_cost_estimated)


def _took(row: TreeRow) -> str:
    return duration(seconds_between(row.created_at, row.ended_at)) if row.ended_at else ""


def _now(row: TreeRow) -> Line:
    """What an open session does now; what an ended one was asked for, and why it failed."""
    if row.ended_at is None:
        parts: list[Part] = list(doing(None if row.status == "waiting_person" else row.tool, row.prompt or row.goal))
    else:
        why = first_line(row.notes) if row.outcome != "success" else ""
        parts = list(doing(why, row.goal))
    if row.prev_session_id is not None:
        parts.append((clean(f" (continues s{row.prev_session_id})"), "dim"))
    if row.forked_from_session_id is not None:
        parts.append((f" (fork of s{row.forked_from_session_id})", "dim"))
    if row.title:
        parts.insert(0, (clean(f"[{row.title}] "), "bold"))
    return parts
