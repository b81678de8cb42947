"""Lines made of coloured parts: in colour and cut to its width on a terminal, as plain text anywhere else."""

import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import click

from ramet.cli.output import clean

if TYPE_CHECKING:
    from rich.console import Group

Part = tuple[str, str]
"""A text and its style; the style is empty for plain text."""
Line = Sequence[Part]
Row = TypeVar("Row")

_GAP = "  "
_EMPTY = "-"
_LAST_WIDTH = 40
"""A column that can be left out is shown only if the last column keeps this much room."""


class Column(NamedTuple, Generic[Row]):
    """A heading, and how to make the cell below it from a row."""

    heading: str
    cell: Callable[[Row], Line]
    is_number: bool = False
    """Numbers are aligned on the right."""
    is_extra: bool = False
    """Whether it is left out if every cell is empty or the terminal is too narrow. Of several, those on the left are
    kept longest.
    """


def plain(text: str | None) -> Line:
    """A cell without a style; `-` if there is nothing to show."""
    return [(clean(text or _EMPTY), "")]


def terminal_width() -> int | None:
    """How many columns there are; None if the output does not go to a terminal, which has room for everything."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def draw_table(columns: Sequence[Column[Row]], rows: Sequence[Row], width: int | None) -> list[Line]:
    """A table with one line for each row. The last column gets all the room that the others leave."""
    *fixed, last = [_Filled.of(column, rows) for column in columns]
    shown = list(_choose(fixed, width))
    heads = [each.pad([(each.column.heading, "bold")]) for each in shown]
    bodies = [[each.pad(each.cells[index]) for each in shown] for index in range(len(rows))]
    return [
        [*(part for cell in head for part in (*cell, (_GAP, ""))), *end]
        for head, end in zip([heads, *bodies], [[(last.column.heading, "bold")], *last.cells], strict=True)
    ]


def _choose(columns: Sequence["_Filled"], width: int | None) -> Iterator["_Filled"]:
    """The columns that are always shown, and as many of the others as leave enough room for the last column."""
    needed = sum(each.room for each in columns if not each.column.is_extra)
    room = sys.maxsize if width is None else width - _LAST_WIDTH - needed
    for each in columns:
        if each.column.is_extra:
            room -= 0 if each.is_empty else each.room
            if each.is_empty or room < 0:
                continue
        yield each


class _Filled(NamedTuple):
    """A column with its cells."""

    column: Column[Any]
    cells: list[Line]
    width: int

    @classmethod
    def of(cls, column: Column[Row], rows: Sequence[Row]) -> "_Filled":
        cells = [column.cell(row) for row in rows]
        return cls(column, cells, max(map(_length, [[(column.heading, "")], *cells])))

    @property
    def room(self) -> int:
        return self.width + len(_GAP)

    @property
    def is_empty(self) -> bool:
        return all("".join(text for text, _ in cell) == _EMPTY for cell in self.cells)

    def pad(self, cell: Line) -> Line:
        space = (" " * (self.width - _length(cell)), "")
        return [space, *cell] if self.column.is_number else [*cell, space]


def _length(cell: Line) -> int:
    return sum(len(text) for text, _ in cell)


def print_lines(lines: Iterable[Line], *, cut: bool) -> None:
    """Each on a line of its own. With `cut`, a terminal shows only as much of a line as it has room for."""
    if not sys.stdout.isatty():
        for line in lines:
            click.echo("".join(clean(text) for text, _ in line).rstrip())
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(highlight=False)
    for line in lines:
        text = Text.assemble(*((clean(part), style) for part, style in line))
        console.print(text, no_wrap=cut, overflow="ellipsis" if cut else "fold", soft_wrap=not cut)


def as_picture(lines: Iterable[Line]) -> "Group":
    """The lines for a terminal on which they are drawn again and again, cut to its width."""
    from rich.console import Group  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    texts = (((clean(part), style) for part, style in line) for line in lines)
    return Group(*(Text.assemble(*parts, no_wrap=True, overflow="ellipsis") for parts in texts))


def spaced(parts: Iterable[Part | None]) -> list[Part]:
    """The parts that are there, with a space between them."""
    there = [part for part in parts if part is not None and part[0]]
    return [piece for index, part in enumerate(there) for piece in ([(" ", "")] if index else []) + [part]]


def is_unicode() -> bool:
    """Whether the output may have characters beyond ASCII."""
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
