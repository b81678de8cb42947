"""Signs of life on the terminal: a spinner while something takes its time, and how far a piece of work is."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, Protocol

from ramet.cli.times import duration

_MINUTE_SECONDS = 60


class Progress(NamedTuple):
    """How far a run, or the work of one command, is."""

    finished: int
    total: int
    seconds: float | None = None
    """The time that it has taken so far; None if it is not known."""
    cost: str | None = None
    """The cost so far; None if it is not known."""

    def __str__(self) -> str:
        """`7/12 · 3m · $1.20`."""
        took = None if self.seconds is None else _elapsed(self.seconds)
        parts = filter(None, [f"{self.finished}/{self.total}", took, self.cost])
        return (" · " if "utf" in (sys.stdout.encoding or "").lower() else " - ").join(parts)


def _elapsed(seconds: float) -> str:
    """`45s`, `3m` or `2h 5m`: once there are minutes, seconds are only noise."""
    return duration(seconds if seconds < _MINUTE_SECONDS else seconds // _MINUTE_SECONDS * _MINUTE_SECONDS)


class Shown(Protocol):
    """Says whether a person watches, and whether the terminal already shows that something is happening."""

    as_json: bool
    is_working: bool


@contextmanager
def progressing(invocation: Shown, what: str) -> Iterator[Callable[[str], None]]:
    """Show a spinner until it is done, and behind it how far it is; only on a terminal, never on standard output."""
    if invocation.as_json or invocation.is_working or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415

    invocation.is_working = True
    try:
        with Console(stderr=True).status(f"{what} …") as status:
            yield lambda far: status.update(f"{what} · {far}")
    finally:
        invocation.is_working = False


@contextmanager
def working(invocation: Shown, what: str) -> Iterator[None]:
    """Show a spinner until it is done."""
    with progressing(invocation, what):
        yield
