"""A sign of life on the terminal while something takes its time."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Shown(Protocol):
    """What says whether a person watches, and whether they see already that something is going on."""

    as_json: bool
    is_working: bool


@contextmanager
def working(invocation: Shown, what: str) -> Iterator[None]:
    """Show what is going on until it is over; only to a person, and never where the answer goes."""
    if invocation.as_json or invocation.is_working or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console  # noqa: PLC0415

    invocation.is_working = True
    with Console(stderr=True).status(f"{what} …"):
        yield
    invocation.is_working = False
