"""Requests and replies about children that a session waits for."""

from typing import Annotated

from msgspec import Meta, Struct

from ramet.errors import Forbidden, SessionNotFound
from ramet.protocol.fields import Id, Name
from ramet.protocol.operation import Change, Operation, Request


class Expected(Struct, frozen=True, kw_only=True):
    """The efforts of the unfinished children. The parent's slot claims them by these ids."""

    effort_ids: list[int]


class ExpectChildren(Change[Expected], frozen=True, kw_only=True):
    """Record that a parent waits for children, or no longer waits. Awaited children run in the parent's slot."""

    op = Operation("spawn.expect", errors=(SessionNotFound, Forbidden), ring="own", audience="internal")

    session_ids: Annotated[list[Id], Meta(min_length=1, max_length=1000)]
    is_expected: bool = True


class Tended(Struct, frozen=True, kw_only=True):
    """The efforts of children whose parents no longer wait for them."""

    dropped: list[int]
    """Efforts that never started and whose parents have ended."""
    released: list[int]
    """Efforts that went back to the queue."""


class TendChildren(Change[Tended], frozen=True, kw_only=True):
    """Requeue the children that no parent waits for, or drop them if their parents ended before they started."""

    op = Operation("spawn.tend", audience="internal")

    is_starting: bool = False
    """Whether a starting daemon asks, through which no parent waits yet."""
    host: Name | None = None
    """The machine whose workers are meant, if several daemons share a database."""


class Stranded(Struct, frozen=True, kw_only=True):
    """The efforts of children whose parents no longer wait for them."""

    effort_ids: list[int]


class ListStranded(Request[Stranded], frozen=True, kw_only=True):
    """List the children that `spawn.tend` with the same parameters would find."""

    op = Operation("spawn.stranded", audience="internal")

    is_starting: bool = False
    host: Name | None = None
