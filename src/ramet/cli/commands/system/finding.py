"""A finding of `ramet doctor`."""

from typing import Literal, NamedTuple


class Finding(NamedTuple):
    """The state of one thing, and how to fix it."""

    name: str
    result: Literal["ok", "warn", "fail"]
    detail: str
    fix: str | None = None
