"""Lines made of coloured parts: in colour and to its width on a terminal, as plain text for anybody else."""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from ramet.cli.output import clean

if TYPE_CHECKING:
    from rich.console import Group

Part = tuple[str, str]
"""A text and its style; the style is empty for plain text."""
Line = Sequence[Part]


def print_lines(lines: Iterable[Line], *, cut: bool) -> None:
    """Each on a line of its own. Where `cut` says so, what a terminal has no room for is left out."""
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
    """The lines for a terminal on which they are drawn again and again; what it has no room for is left out."""
    from rich.console import Group  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    texts = (((clean(part), style) for part, style in line) for line in lines)
    return Group(*(Text.assemble(*parts, no_wrap=True, overflow="ellipsis") for parts in texts))


def spaced(parts: Iterable[Part | None]) -> list[Part]:
    """The parts that are there, with a space between them."""
    there = [part for part in parts if part is not None and part[0]]
    return [piece for index, part in enumerate(there) for piece in ([(" ", "")] if index else []) + [part]]


def is_unicode() -> bool:
    """Whether what we print may have characters beyond ASCII."""
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
