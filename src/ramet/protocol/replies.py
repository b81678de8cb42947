"""The replies.

One that concerns a row is that row (`ramet.model`), sometimes with more said about it; a list is
`{"items": [...], "next": cursor or null}`.
"""

from typing import Any, Generic, TypeVar

from msgspec import Struct

from ramet.model.record.effort import Check, Effort
from ramet.model.record.phase import PhaseRecord
from ramet.model.record.session import Session

Item = TypeVar("Item")


class Page(Struct, Generic[Item], frozen=True, kw_only=True):
    """A part of a list; `next` is what to ask for to get the part behind it."""

    items: list[Item]
    next: int | None = None


class EffortReply(Effort, frozen=True, kw_only=True):
    """An effort, the prefix of its files, and whether the request found its work already done."""

    artifact_prefix: str
    already: bool = False


class EffortDetail(EffortReply, frozen=True, kw_only=True):
    """An effort, who holds it, and the phases it went through."""

    holder: str | None
    phases: list[PhaseRecord]


class PhaseReply(EffortReply, frozen=True, kw_only=True):
    """An effort after `db.effort.phase`; `recorded` is null where the effort was in that phase already."""

    recorded: PhaseRecord | None


class SessionReply(Session, frozen=True, kw_only=True):
    """A session, and whether the request found its work already done."""

    already: bool = False


class Validation(Struct, frozen=True, kw_only=True):
    """What `db.effort.validate` found."""

    effort_id: int
    passed: bool
    checks: list[Check]


class Deleted(Struct, frozen=True, kw_only=True):
    """Whether there was something to delete."""

    deleted: bool


class Counts(Struct, frozen=True, kw_only=True):
    """How much there is of everything, and how much of it is going on."""

    projects: int
    tasks: int
    efforts: int
    queued_efforts: int
    active_efforts: int
    sessions: int
    open_sessions: int
    messages: int
    agents: int


class QueryResult(Struct, frozen=True, kw_only=True):
    """The rows of `db.query`; `truncated` where there were more than `query.max_rows`."""

    columns: list[str]
    rows: list[list[Any]]
    truncated: bool


class Finding(Struct, frozen=True, kw_only=True):
    """Something that `db.check` found wrong."""

    check: str
    detail: str


class CheckReport(Struct, frozen=True, kw_only=True):
    """What `db.check` looked at and found."""

    passed: bool
    counts: dict[str, int]
    findings: list[Finding]


class BackupReport(Struct, frozen=True, kw_only=True):
    """Where a backup was written."""

    path: str
    bytes: int
    schema_version: int


class Subscribed(Struct, frozen=True, kw_only=True):
    """The id after which events will follow, as `events.event` notifications."""

    after: int


class HelloReply(Struct, frozen=True, kw_only=True):
    """Who answers."""

    version: str
    protocol: int
    principal: str


class Pong(Struct, frozen=True, kw_only=True):
    """The daemon is there."""

    pong: bool = True


class DaemonStatusReply(Struct, frozen=True, kw_only=True):
    """What the daemon says about itself."""

    socket: str
    pid: int
    version: str
    store: str
    schema_version: int
    uptime_seconds: float
    connections: int
    requests: int
    transactions: int
    resident_bytes: int


class Stopping(Struct, frozen=True, kw_only=True):
    """The daemon finishes what it has and goes."""

    stopping: bool = True
