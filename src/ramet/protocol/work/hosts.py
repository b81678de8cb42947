"""Requests and replies about hosts on which no agent could start."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from ramet.protocol.fields import Name, Text
from ramet.protocol.operation import Change, Operation, Request
from ramet.protocol.replies import Page

HostState = Literal["counting", "parked", "probing"]
"""counting: it claims efforts, and its failures are counted; parked: it claims none; probing: it claims one effort at a
time, until an agent starts.
"""


class HostRow(Struct, frozen=True, kw_only=True):
    """A host on which attempts failed before their agents started, or whose disk is nearly full."""

    name: str
    state: HostState
    failures: int
    """How many in a row; attempts that failed at the same time count once."""
    reason: str
    """The newest failure."""
    parked_at: datetime | None
    parked_until: datetime | None
    """When it tries one effort again; null while its disk lacks room."""


class ListHosts(Request[Page[HostRow]], frozen=True, kw_only=True):
    """List the hosts on which no agent could start, and whether they claim efforts now."""

    op = Operation("hosts.list")


class ResumedHost(Struct, frozen=True, kw_only=True):
    """A host that claims efforts again."""

    name: str
    effort_ids: list[int]
    """The efforts that failed there, and may start there now."""
    already: bool = False
    """Whether it was not parked."""


class ResumeHost(Change[ResumedHost], frozen=True, kw_only=True):
    """Let a parked host claim efforts again now. Its failures are counted from 0."""

    op = Operation("hosts.resume")

    name: Name
    """The name of the host, as `hosts.list` has it."""


class ParkHost(Change[HostRow], frozen=True, kw_only=True):
    """Let a host claim nothing until its disk has room again."""

    op = Operation("hosts.park", audience="internal")

    name: Name
    reason: Text


class NoteHostWorks(Change[ResumedHost], frozen=True, kw_only=True):
    """Note that a host works: an agent has started there, or its disk has room again."""

    op = Operation("hosts.works", audience="internal")

    name: Name


class NotStarted(Struct, frozen=True, kw_only=True):
    """An attempt that failed before its agent started."""

    host: Name | None = None
    """Where. Other hosts may claim the effort at once, this one only after a pause."""
    is_hosts: bool = True
    """Whether it is a failure of the host: no attempt is used up, and a host that fails several times in a row claims
    nothing for a while.
    """
    seconds: Annotated[float, Meta(ge=0)] = 0
    """How long ago the attempt was claimed. Attempts that were under way when the last one failed failed with it."""
