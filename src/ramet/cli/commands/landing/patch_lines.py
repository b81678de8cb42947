"""Patches and their statistics on a screen. Agents wrote the contents and the names of files: nothing in them reaches
the terminal as it is, and nothing is hidden, because a reviewer has to see what is there.
"""

import sys
from collections.abc import Iterable, Sequence

import click

from ramet.cli.output import reveal
from ramet.cli.screens.styled_lines import Line, Part, terminal_width
from ramet.protocol.work.changes import ChangedFile

_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_WIDTH = 80
_NARROWEST_BAR = 10
_SHORTEST_NAME = 20


def show(lines: Iterable[Line]) -> None:
    """Each on a line of its own, in colour on a terminal."""
    shown = [[(reveal(text), style) for text, style in line] for line in lines]
    if not sys.stdout.isatty():
        for line in shown:
            click.echo("".join(text for text, _ in line))
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(highlight=False)
    for line in shown:
        console.print(Text.assemble(*line), soft_wrap=True)


def draw_patch(text: str) -> list[Line]:
    """The lines of a patch, in git's colours."""
    is_head = True
    lines: list[Line] = []
    for line in text.removesuffix("\n").split("\n") if text else []:
        if line.startswith("diff --git "):
            is_head = True
        elif line.startswith("@@ "):
            is_head = False
        style = "bold" if is_head else _STYLES.get(line[:1], "")
        lines.append([(line, style)])
    return lines


def draw_stat(files: Sequence[ChangedFile]) -> list[Line]:
    """`cart.py | 12 ++++----`, fitted to the terminal."""
    width = terminal_width() or _WIDTH
    names = [reveal(_name(file)) for file in files]
    amounts = [_amount(file) for file in files]
    room = max(map(len, amounts), default=0)
    longest = max(_SHORTEST_NAME, width - room - _NARROWEST_BAR - len(" |  "))
    names = [name if len(name) <= longest else f"...{name[3 - longest :]}" for name in names]
    column = max(map(len, names), default=0)
    most = max((_lines(file) for file in files), default=0)
    scale = min(1.0, (width - column - room - len(" |  ")) / most) if most else 1.0
    return [
        [(f"{name:{column}} | {amount:>{room}} ", ""), *_bar(file, scale)]
        for name, amount, file in zip(names, amounts, files, strict=True)
    ]


def _name(file: ChangedFile) -> str:
    return file.path if file.former_path is None else f"{file.former_path} => {file.path}"


def _amount(file: ChangedFile) -> str:
    return "binary" if file.insertions is None else str(_lines(file))


def _lines(file: ChangedFile) -> int:
    return (file.insertions or 0) + (file.deletions or 0)


def _bar(file: ChangedFile, scale: float) -> list[Part]:
    parts = (("+", file.insertions or 0, "green"), ("-", file.deletions or 0, "red"))
    return [(sign * max(1, int(lines * scale)), style) for sign, lines, style in parts if lines]
