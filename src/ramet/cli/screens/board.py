"""How `ramet work` looks: a board on a terminal, plain lines anywhere else, JSON lines for programs."""

import sys
from collections.abc import Collection
from typing import TYPE_CHECKING, Protocol

import click

from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, print_json
from ramet.cli.screens.effort_lines import cost, first_line, tokens
from ramet.cli.screens.work_changes import Change, Running, sentence
from ramet.cli.times import ago

if TYPE_CHECKING:
    from rich.console import RenderableType

_COLOURS = {"started": "", "says": "dim"} | dict.fromkeys(("requeued", "limited", "stuck", "notice"), "yellow")


class Display(Protocol):
    """Something that shows what happens."""

    is_live: bool
    """Whether it shows what runs, and not only what changes."""

    def tell(self, change: Change) -> None:
        """Show a change, for good."""

    def say(self, line: str) -> None:
        """Say something that is about no effort."""

    def draw(self, running: Collection[Running]) -> None:
        """Show what runs now, until it is drawn again."""

    def close(self) -> None:
        """Leave the terminal as it was found."""


def open_display(invocation: Invocation) -> Display:
    """The display that fits where the output goes."""
    if invocation.as_json:
        return JsonLines()
    return Board(invocation) if sys.stdout.isatty() else Lines()


class JsonLines:
    """One JSON document a line."""

    is_live = False

    def tell(self, change: Change) -> None:
        print_json(change.as_json(), indent=None)

    def say(self, line: str) -> None:
        click.echo(clean(line), err=True)

    def draw(self, running: Collection[Running]) -> None:
        pass

    def close(self) -> None:
        pass


class Lines:
    """A line for each change."""

    is_live = False

    def tell(self, change: Change) -> None:
        click.echo(clean(sentence(change)))

    def say(self, line: str) -> None:
        click.echo(clean(line))

    def draw(self, running: Collection[Running]) -> None:
        pass

    def close(self) -> None:
        pass


class Board:
    """A table of what runs, and above it a line for each change."""

    is_live = True

    def __init__(self, invocation: Invocation) -> None:
        from rich.console import Console  # noqa: PLC0415
        from rich.live import Live  # noqa: PLC0415

        self._console = Console(highlight=False)
        self._live = Live(console=self._console, auto_refresh=False, transient=True, vertical_overflow="ellipsis")
        self._live.start()
        invocation.is_working = True

    def tell(self, change: Change) -> None:
        self._print(sentence(change), _colour(change))

    def say(self, line: str) -> None:
        self._print(line, "bold")

    def draw(self, running: Collection[Running]) -> None:
        self._live.update(_table(running), refresh=True)

    def close(self) -> None:
        self._live.stop()

    def _print(self, line: str, style: str) -> None:
        from rich.text import Text  # noqa: PLC0415

        self._console.print(Text(clean(line), style))


def _colour(change: Change) -> str:
    if change.kind == "ended":
        return "green" if change.effort.outcome == "success" else "red"
    return _COLOURS.get(change.kind, "")


def _table(running: Collection[Running]) -> "RenderableType":
    from rich.padding import Padding  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    if not running:
        return Text("\nwaiting for work: `ramet add PROMPT` in another terminal; Ctrl-C ends this", "dim")
    table = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    for heading in ("EFFORT", "SKILL", "DRIVER", "STATUS", "TIME", "TOKENS", "COST"):
        table.add_column(heading, no_wrap=True)
    table.add_column("LAST WORDS", no_wrap=True, overflow="ellipsis", ratio=1)
    for one in running:
        effort = one.effort
        table.add_row(
            f"e{effort.id}",
            Text(effort.skill),
            Text(str(effort.driver)),
            one.status,
            ago(one.since),
            short_number(tokens(effort.usage)),
            cost(effort.usage) or "-",
            Text(first_line(one.words), "dim"),
        )
    return Padding(table, (1, 0, 0, 0))


def short_number(number: int) -> str:
    """`1.2k` or `3.4M`, which keeps its place while it grows."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return str(number or "-")
