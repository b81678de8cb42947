"""Draws a history: a lane for each line of commits, joined at the commits where lines fork and merge.

It knows only the names and the parents of commits, and gets them children first.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ramet.cli.screens.styled_lines import Line

_COLOURS = ("green", "blue", "magenta", "cyan", "yellow", "red")
_ASCII = str.maketrans(dict(zip("●○◆│┆─├┤┼┴┬╮╭╯╰", "*o#|:-||+++\\//\\", strict=True)))


class Node(NamedTuple):
    """A commit to draw, with those of its parents that are shown."""

    name: str
    parents: Sequence[str]
    mark: str
    goes_on: bool
    """Whether it has a parent that is not shown."""


class Drawing(NamedTuple):
    """The graph left of a commit: on its own line, on its further lines, and on lines before and after."""

    before: list[Line]
    line: Line
    below: Line
    after: list[Line]


def draw(nodes: Sequence[Node], *, unicode: bool) -> Iterator[Drawing]:
    """Each node's part of the picture, in their order."""
    lanes = _Lanes(unicode=unicode)
    for node in nodes:
        yield lanes.place(node)


class _Lanes:
    """The lanes, each with the commit that it leads to next."""

    def __init__(self, *, unicode: bool) -> None:
        self._unicode = unicode
        self._next: list[str | None] = []
        self._ended: tuple[int, str] | None = None
        """The lane that ended with the last commit, and what is drawn below it."""

    def place(self, node: Node) -> Drawing:
        waiting = [lane for lane, name in enumerate(self._next) if name == node.name]
        lane = waiting[0] if waiting else self._free()
        before = [*self._separate(lane), *self._join(lane, waiting[1:])]
        self._next[lane] = node.name
        line = self._paint(self._row({lane: node.mark}))
        self._next[lane] = node.parents[0] if node.parents else None
        end = "┆" if node.goes_on else " "
        below = self._row({} if node.parents else {lane: end})
        self._ended = None if node.parents else (lane, end)
        after = self._part(lane, node.parents[1:])
        self._trim()
        return Drawing(before, line, self._paint(below), after)

    def _separate(self, lane: int) -> list[Line]:
        """A row between the end of a lane and a commit that has nothing to do with it: one below the other they would
        look like parent and child.
        """
        if self._ended is None or self._ended[0] != lane:
            return []
        return [self._paint(self._row({lane: self._ended[1]}))]

    def _join(self, lane: int, others: list[int]) -> list[Line]:
        """Join the lanes that lead to the same commit."""
        if not others:
            return []
        row = self._across(lane, {**dict.fromkeys(others, "┴"), max(others): "╯"})
        for other in others:
            self._next[other] = None
        self._trim()
        return [row]

    def _part(self, lane: int, parents: Sequence[str]) -> list[Line]:
        """Open a lane for each further parent of a commit, or lead to the lane that is there."""
        ends: dict[int, str] = {}
        for parent in parents:
            if parent in self._next:
                other = self._next.index(parent)
                ends[other] = "┤" if other > lane else "├"
            else:
                other = self._free()
                self._next[other] = parent
                ends[other] = "╮" if other > lane else "╭"
        ends.pop(lane, None)
        return [self._across(lane, ends)] if ends else []

    def _across(self, lane: int, ends: Mapping[int, str]) -> Line:
        """A row in which a lane is joined with others; lanes on the way are crossed."""
        first, last = min(lane, *ends), max(lane, *ends)
        row = []
        for index, (cell, gap) in enumerate(self._row({})):
            inside = first <= index <= last
            if index == lane:
                symbol = "├" if first == lane else "┤" if last == lane else "┼"
            elif index in ends:
                symbol = _passing(ends[index]) if first < index < last else ends[index]
            else:
                symbol = ("─" if cell == " " else "┼") if inside else cell
            row.append((symbol, "─" if first <= index < last else gap))
        return self._paint(row)

    def _row(self, marks: Mapping[int, str]) -> list[tuple[str, str]]:
        """The symbol of each lane, and the filler between it and the next."""
        return [(marks.get(lane, " " if name is None else "│"), " ") for lane, name in enumerate(self._next)]

    def _paint(self, row: list[tuple[str, str]]) -> Line:
        parts = [(symbol + gap, _COLOURS[lane % len(_COLOURS)]) for lane, (symbol, gap) in enumerate(row)]
        return parts if self._unicode else [(text.translate(_ASCII), style) for text, style in parts]

    def _free(self) -> int:
        if None not in self._next:
            self._next.append(None)
        return self._next.index(None)

    def _trim(self) -> None:
        while self._next and self._next[-1] is None:
            self._next.pop()


def _passing(end: str) -> str:
    """The symbol of an end that the row continues behind."""
    return {"╯": "┴", "╮": "┬", "╭": "┬"}.get(end, "┼" if end in "├┤" else end)
