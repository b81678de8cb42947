"""Requests and replies about children that a session waits for."""

from typing import Annotated

from msgspec import Meta, Struct

from ramet.errors import Forbidden, SessionNotFound
from ramet.protocol.fields import Id, Name
from ramet.protocol.operation import Change, Operation, Request


class Expected(Struct, frozen=True, kw_only=True):
    """The efforts of the children that are not finished: whoever lends them a slot claims them by these."""

    effort_ids: list[int]


class ExpectChildren(Change[Expected], frozen=True, kw_only=True):
    """Note that a parent waits for children, or does no more.

    Note that a parent waits for children, or does no more: what waits in the queue then is run in its slot.
    """

    op = Operation("spawn.expect", errors=(SessionNotFound, Forbidden), scope="session", audience="internal")

    session_ids: Annotated[list[Id], Meta(min_length=1, max_length=1000)]
    is_expected: bool = True


class Tended(Struct, frozen=True, kw_only=True):
    """The efforts of children that nobody waited for."""

    dropped: list[int]
    """Never begun, and their parents are over."""
    released: list[int]
    """The queue has them now."""


class TendChildren(Change[Tended], frozen=True, kw_only=True):
    """Give children whose parents are gone an outcome, or their place in the queue.

    Find what waits for somebody who is not there any more.
    """

    op = Operation("spawn.tend", audience="internal")

    is_starting: bool = False
    """Asked by a daemon that starts: nobody waits through it yet."""
    host: Name | None = None
    """Where several daemons share a database: whose workers are meant."""


class Stranded(Struct, frozen=True, kw_only=True):
    """The efforts of children that wait for somebody who is not there."""

    effort_ids: list[int]


class ListStranded(Request[Stranded], frozen=True, kw_only=True):
    """The children that wait for somebody who is not there any more.

    What `TendChildren` with the same parameters would find.
    """

    op = Operation("spawn.stranded", audience="internal")

    is_starting: bool = False
    host: Name | None = None
