"""The screens of `ramet work`: a board on a terminal, plain lines anywhere else, JSON lines for programs."""

import sys
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

import click

from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, print_json
from ramet.cli.progress import Progress
from ramet.cli.screens.agent_names import doing, effort_agent
from ramet.cli.screens.effort_lines import cost, tokens
from ramet.cli.screens.states import status_word, style_of
from ramet.cli.screens.styled_lines import Column, Line, as_picture, draw_table, plain
from ramet.cli.screens.work_changes import Change, Running, sentence
from ramet.cli.times import ago

if TYPE_CHECKING:
    from rich.console import RenderableType

_STYLES = {
    "started": "",
    "says": "dim",
    **dict.fromkeys(("requeued", "limited", "stuck", "refused", "notice"), "yellow"),
}
_IDLE = "no agent is running"
_WAITING = "waiting for work: run `ramet add PROMPT` in another terminal; Ctrl-C stops"


class Display(Protocol):
    """Shows the changes and the progress of some work."""

    is_live: bool
    """Whether it shows running efforts, and not only changes."""

    def tell(self, change: Change) -> None:
        """Show a change, for good."""

    def say(self, line: str) -> None:
        """Show a line that is not about an effort."""

    def draw(self, running: Collection[Running], progress: Progress) -> None:
        """Show the running efforts, until the next time."""

    def close(self) -> None:
        """Leave the terminal as it was."""


def open_display(invocation: Invocation, *, waits: bool = False) -> Display:
    """The display that fits the output. `waits` says whether the command waits for more work."""
    if invocation.as_json:
        return JsonLines()
    return Board(invocation, waits=waits) if sys.stdout.isatty() else Lines(invocation)


class JsonLines:
    """One JSON document per line."""

    is_live = False

    def tell(self, change: Change) -> None:
        print_json(change.as_json(), indent=None)

    def say(self, line: str) -> None:
        click.echo(clean(line), err=True)

    def draw(self, running: Collection[Running], progress: Progress) -> None:
        pass

    def close(self) -> None:
        pass


class Lines:
    """One line for each change."""

    is_live = False

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation

    def tell(self, change: Change) -> None:
        click.echo(clean(sentence(self._invocation, change)))

    def say(self, line: str) -> None:
        click.echo(clean(line))

    def draw(self, running: Collection[Running], progress: Progress) -> None:
        pass

    def close(self) -> None:
        pass


class Board:
    """A table of the running efforts with the progress below it, and above it a line for each change."""

    is_live = True

    def __init__(self, invocation: Invocation, *, waits: bool = False) -> None:
        from rich.console import Console  # noqa: PLC0415
        from rich.live import Live  # noqa: PLC0415

        self._invocation = invocation
        self._console = Console(highlight=False)
        self._live = Live(
            console=self._console,
            auto_refresh=False,
            transient=True,
            vertical_overflow="ellipsis",
            redirect_stdout=False,  # the replacement does not know the encoding, and nothing else prints meanwhile
            redirect_stderr=False,
        )
        self._live.start()
        self._idle = _WAITING if waits else _IDLE
        self._running: dict[int, Running] = {}
        self._progress = Progress(0, 0)
        invocation.is_working = True

    def tell(self, change: Change) -> None:
        self._print(sentence(self._invocation, change, columns=self._console.width), _style(change))

    def say(self, line: str) -> None:
        self._print(line, "bold")

    def draw(self, running: Collection[Running], progress: Progress) -> None:
        self._running = {one.effort.id: one for one in running}
        self._progress = progress
        self._live.update(self._picture(), refresh=True)

    def close(self) -> None:
        self._live.stop()

    def _picture(self) -> "RenderableType":
        progress = str(self._progress) if self._progress.total else ""
        if not self._running:
            return draw_board([[(self._idle, "dim")]], progress)
        return draw_board(draw_table(_COLUMNS, list(self._running.values()), self._console.width), progress)

    def _print(self, line: str, style: str) -> None:
        from rich.text import Text  # noqa: PLC0415

        self._console.print(Text(clean(line), style))


def draw_board(table: Sequence[Line], progress: str) -> "RenderableType":
    """A table, and below it the progress."""
    below: Iterable[Line] = [[], [(progress, "bold")]] if progress else []
    return as_picture([[], *table, *below])


def running_word(one: Running) -> str:
    """The state of a running effort, in words."""
    return status_word(one.status).replace("_", " ")


def _style(change: Change) -> str:
    if change.kind == "ended":
        return style_of(change.effort.outcome or "failed") or "red"
    return _STYLES.get(change.kind, "")


_COLUMNS: list[Column[Running]] = [
    Column("AGENT", lambda one: [(effort_agent(one.effort.driver, one.effort.id), "bold")]),
    Column("STATE", lambda one: [(running_word(one), style_of(running_word(one)))]),
    Column("TIME", lambda one: plain(ago(one.since)), is_number=True),
    Column("COST", lambda one: plain(cost(one.effort.usage)), is_number=True),
    Column("SKILL", lambda one: plain(one.effort.skill), is_extra=True),
    Column("TOKENS", lambda one: plain(short_number(tokens(one.effort.usage))), is_number=True, is_extra=True),
    Column("NOW", lambda one: doing(one.now, one.effort.prompt)),
]


def short_number(number: int) -> str:
    """`1.2k` or `3.4M`, which keeps its width while it grows."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return str(number or "-")
