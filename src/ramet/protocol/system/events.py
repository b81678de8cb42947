"""Requests and replies about events."""

from typing import Annotated

from msgspec import Meta, Struct

from ramet.model.event import Event, EventKind
from ramet.protocol.operation import Operation, Pages, Request
from ramet.protocol.replies import Page


class ListEvents(Request[Page[Event]], frozen=True, kw_only=True):
    """List the events after an id in order, or the newest events."""

    op = Operation("events.list", pages=Pages(cursor="after"))

    after: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0
    limit: Annotated[int, Meta(ge=1, le=2**31 - 1)] = 100
    kind: EventKind | None = None
    newest: bool = False


class Subscribed(Struct, frozen=True, kw_only=True):
    """The id after which events follow, each as an `events.event` notification."""

    after: int


class SubscribeEvents(Request[Subscribed], frozen=True, kw_only=True):
    """Subscribe to events, starting after an id (default: only new events)."""

    op = Operation("events.subscribe", host="daemon")

    after: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
