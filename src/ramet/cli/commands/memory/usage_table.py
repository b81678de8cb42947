"""The table of `ramet usage`: as many columns as the terminal has room for."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ramet.cli.output import clean
from ramet.cli.screens.effort_lines import dollars
from ramet.cli.screens.styled_lines import Line
from ramet.cli.times import duration
from ramet.protocol.memory.usage import Group, UsageRow

_GAP = 2
_NARROWEST = 8
"""A name is cut to this many characters before a terminal is too narrow for it."""
_TOTAL = "total"


class _Column(NamedTuple):
    heading: str
    cell: Callable[[UsageRow], str]
    rank: int = 0
    """Columns with the highest rank are left out first; 0: never."""


def compact(number: float) -> str:
    """`999`, `12.3k`, `4.56M`: three digits are enough to compare."""
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size:
            return f"{number / size:.3g}{unit}" if abs(number) < 1000 * size else f"{number / size:,.0f}{unit}"
    return f"{number:.0f}"


def _cost(row: UsageRow) -> str:
    """An unknown cost is `-`. A known cost of nothing is free of charge."""
    if row.cost_usd is None:
        return "-"
    return dollars(row.cost_usd, is_estimated=row.is_cost_estimated) or "$0"


_NUMBERS = (
    _Column("CALLS", lambda row: compact(row.calls), 2),
    _Column("INPUT", lambda row: compact(row.input_tokens)),
    _Column("OUTPUT", lambda row: compact(row.output_tokens)),
    _Column("READ", lambda row: compact(row.cache_read_tokens), 4),
    _Column("WRITE", lambda row: compact(row.cache_write_tokens), 5),
    _Column("CACHE", lambda row: "-" if row.cache_share is None else f"{row.cache_share:.0%}", 1),
    _Column("INJECTED", lambda row: compact(row.injected_tokens), 6),
    _Column("COST", _cost),
    _Column("TIME", lambda row: duration(row.seconds) if row.seconds else "-", 3),
)


def draw(
    rows: Sequence[UsageRow], total: UsageRow, by: Sequence[Group], names: dict[int, str], width: int | None
) -> list[Line]:
    """The lines of the table, with the total at the end."""
    numbers = [column for column in _NUMBERS if column.heading != "INJECTED" or total.injected_tokens]
    groups = [[_name(row, group, names) for group in by] for row in rows]
    first = [_TOTAL, *[""] * (len(by) - 1)] if by else [_TOTAL]
    groups = [[group.upper() for group in by] or [""], *groups, first]
    cells = [[column.cell(row) for column in numbers] for row in [*rows, total]]
    cells = [[column.heading for column in numbers], *cells]
    shown = _choose(numbers, cells, groups, width)
    cells = [[row[index] for index in shown] for row in cells]
    widths = _fit(groups, _measure(cells), width)
    number_widths = [max(len(row[index]) for row in cells) for index in range(len(shown))]
    lines: list[Line] = []
    for index, (group, row) in enumerate(zip(groups, cells, strict=True)):
        style = "bold" if index in (0, len(cells) - 1) else ""
        left = [_cut(text, size).ljust(size) for text, size in zip(group, widths, strict=True)]
        right = [text.rjust(size) for text, size in zip(row, number_widths, strict=True)]
        lines.append([("  ".join([*left, *right]), style)])
    return lines


def _name(row: UsageRow, group: Group, names: dict[int, str]) -> str:
    match group:
        case "day":
            return row.day or "-"
        case "project":
            return "-" if row.project_id is None else clean(names.get(row.project_id, f"project {row.project_id}"))
        case "model":
            return clean(row.model or "-")
        case "agent":
            return clean(row.agent or "-")
        case "skill":
            return clean(row.skill or "-")
        case "effort":
            return "-" if row.effort_id is None else f"e{row.effort_id}"


def _measure(cells: Sequence[Sequence[str]]) -> int:
    return sum(max(map(len, column)) + _GAP for column in zip(*cells, strict=True))


def _choose(
    numbers: Sequence[_Column], cells: Sequence[Sequence[str]], groups: Sequence[Sequence[str]], width: int | None
) -> list[int]:
    """The numbers that are shown: all, or as many as fit beside the names of the groups."""
    shown = list(range(len(numbers)))
    needed = sum(max(map(len, column)) + _GAP for column in zip(*groups, strict=True)) - _GAP
    while width is not None and (extra := [index for index in shown if numbers[index].rank]):
        if needed + _measure([[row[index] for index in shown] for row in cells]) <= width:
            break
        shown.remove(max(extra, key=lambda index: numbers[index].rank))
    return shown


def _fit(groups: Sequence[Sequence[str]], numbers: int, width: int | None) -> list[int]:
    """The widths of the groups' columns. If they are too wide, the widest gives way."""
    widths = [max(map(len, column)) for column in zip(*groups, strict=True)]
    while width is not None and sum(widths) + _GAP * (len(widths) - 1) + numbers > width:
        widest = max(range(len(widths)), key=lambda index: widths[index])
        if widths[widest] <= _NARROWEST:
            break
        widths[widest] -= 1
    return widths


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else f"{text[: size - 1]}…"
