"""How trees of sessions look: each session on a line below the one that spawned it."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from ramet.cli.output import clean, count
from ramet.cli.screens.board import short_number
from ramet.cli.screens.effort_lines import first_line, short_agent
from ramet.cli.screens.styled_lines import Line, Part, is_unicode
from ramet.cli.times import ago, duration, seconds_between
from ramet.model.spawn.child import TreeRow

_STYLES = {
    "success": "green",
    **dict.fromkeys(("error", "timeout", "stuck", "budget", "orphaned"), "red"),
    **dict.fromkeys(("starting", "waiting_child", "waiting_person", "detecting"), "yellow"),
    **dict.fromkeys(("cancelled", "dropped"), "dim"),
    "running": "cyan",
}
_GAP: Part = ("  ", "")
_STATUS = "STATUS"


class _Column(NamedTuple):
    """A heading, and what stands below it."""

    heading: str
    cell: Callable[[TreeRow], str]
    is_number: bool = False


class _Filled(NamedTuple):
    """A column's cells."""

    heading: str
    cells: list[str]
    width: int
    is_number: bool

    @classmethod
    def of(cls, column: _Column, placed: Sequence[tuple[str, TreeRow]]) -> "_Filled":
        cells = [column.cell(row) for _, row in placed]
        return cls(column.heading, cells, max(map(len, [column.heading, *cells])), column.is_number)

    def pad(self, text: str) -> str:
        return text.rjust(self.width) if self.is_number else text.ljust(self.width)


def word(row: TreeRow) -> str:
    """How a session ended, or what it is doing."""
    return str(row.outcome or row.status)


def is_over(rows: Sequence[TreeRow]) -> bool:
    """Whether nothing is going on any more."""
    return all(row.ended_at is not None for row in rows)


def draw(rows: Sequence[TreeRow], named: Collection[int] = ()) -> list[Line]:
    """The trees of some sessions, under headings; those that were asked for stand out."""
    placed = list(_place(rows))
    art_width = max([len("SESSION"), *(len(f"{art}s{row.id}") for art, row in placed)])
    columns = [_Filled.of(column, placed) for column in _columns(rows)]
    headings = [column.pad(column.heading) for column in columns]
    lines: list[Line] = [[("  ".join([f"{'SESSION':{art_width}}", *headings, "GOAL"]), "bold")]]
    for index, (art, row) in enumerate(placed):
        name = f"s{row.id}".ljust(art_width - len(art))
        parts: list[Part] = [(art, "dim"), (name, "bold green" if row.id in named else "bold"), _GAP]
        for column in columns:
            style = _STYLES.get(word(row), "") if column.heading == _STATUS else ""
            parts += [(column.pad(column.cells[index]), style), _GAP]
        lines.append([*parts, *_words(row)])
    return lines


def summary(rows: Sequence[TreeRow]) -> str:
    """`4 sessions: 2 success, 1 running, 1 budget; 12,410 tokens, $0.31`."""
    words = ", ".join(f"{number} {each}" for each, number in Counter(map(word, rows)).most_common())
    used = [count(number, "token")] if (number := sum(row.tokens for row in rows)) else []
    used += [_dollars(cost)] if (cost := sum(row.cost_usd or 0.0 for row in rows)) else []
    return f"{count(len(rows), 'session')}: {words}" + (f"; {', '.join(used)}" if used else "")


def used(row: TreeRow) -> str:
    """`12s, 1,204 tokens, $0.03`: how long a session took, and what it used with all below it."""
    facts = [_took(row)]
    if row.total_tokens:
        facts.append(count(row.total_tokens, "token"))
    if row.total_cost_usd:
        facts.append(_dollars(row.total_cost_usd))
    return ", ".join(filter(None, facts))


def _place(rows: Sequence[TreeRow]) -> Iterator[tuple[str, TreeRow]]:
    """Each session with what is drawn before its name. What continues a session stands right behind it."""
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
    """The session that everything began with which this one continues."""
    while (before := known.get(row.prev_session_id)) and before.parent_session_id == row.parent_session_id:
        row = before
    return row.id


def _columns(rows: Sequence[TreeRow]) -> Iterator[_Column]:
    """What stands before the goal; columns in which nobody has anything to say are left out."""
    has_more = any(row.total_tokens != row.tokens or row.total_cost_usd != row.cost_usd for row in rows)
    yield _Column(_STATUS, lambda row: f"{word(row)} {_took(row)}".rstrip())
    yield _Column("AGENT", lambda row: clean(row.driver or short_agent(row.agent_id) or "-"))
    yield _Column("SKILL", lambda row: clean(row.skill))
    yield _Column("AGE", lambda row: ago(row.created_at) or "-", is_number=True)
    if any(row.tokens for row in rows):
        yield _Column("TOKENS", lambda row: short_number(row.tokens), is_number=True)
        if has_more:
            yield _Column("+BELOW", lambda row: short_number(row.total_tokens), is_number=True)
    if any(row.cost_usd for row in rows):
        yield _Column("COST", lambda row: _dollars(row.cost_usd), is_number=True)
        if has_more:
            yield _Column("+BELOW", lambda row: _dollars(row.total_cost_usd), is_number=True)


def _took(row: TreeRow) -> str:
    return duration(seconds_between(row.created_at, row.ended_at)) if row.ended_at else ""


def _dollars(cost: float | None) -> str:
    return "-" if cost is None else f"${cost:,.2f}"


def _words(row: TreeRow) -> list[Part]:
    """What it is to reach, and where it did not, why."""
    goal = first_line(row.goal)
    parts: list[Part] = [(f"{goal} " if goal else "", "")]
    if row.prev_session_id is not None:
        parts.append((f"continues s{row.prev_session_id} ", "dim"))
    if row.outcome not in (None, "success") and row.notes:
        parts.append((f"({first_line(row.notes)})", "dim"))
    return parts
