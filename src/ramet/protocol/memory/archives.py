"""Requests and replies about exports, archives, and contents that are removed."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from ramet.errors import (
    ArchiveInvalid,
    EffortNotFound,
    InvalidParams,
    ProjectNotFound,
    RunAttended,
    RunNotFound,
    SessionNotFound,
    SessionOpen,
    StorageFailed,
)
from ramet.model.memory.exports.archive import ArchiveRow
from ramet.model.record.session import Session
from ramet.protocol.fields import Id, Name, Path, ProjectRef, SessionId, Text
from ramet.protocol.operation import Change, Operation, Request

ExportFormat = Literal["ramet", "atif", "markdown"]


class ExportReport(Struct, frozen=True, kw_only=True):
    """An exported file."""

    path: str
    bytes: int
    format: ExportFormat
    counts: dict[str, int]
    """How many rows of each table, or sessions and steps, are in it."""


class Export(Request[ExportReport], frozen=True, kw_only=True):
    """Write sessions to a new file: as an archive that another Ramet can import, as ATIF, or as Markdown.

    Give one of `session_id`, `effort_id`, `run_id` and `project`, or `all`. Everything is read in one snapshot.
    """

    op = Operation(
        "memory.export",
        errors=(InvalidParams, SessionNotFound, EffortNotFound, RunNotFound, ProjectNotFound, StorageFailed),
        host="store",
        is_long=True,
    )

    path: Path
    format: ExportFormat = "ramet"
    session_id: SessionId | None = None
    effort_id: Id | None = None
    run_id: Id | None = None
    project: ProjectRef | None = None
    all: bool = False


class AddedRows(Struct, frozen=True, kw_only=True):
    """What a part of an archive became."""

    added: dict[str, int]
    """New rows by table."""
    known: int
    """Rows that were there already."""
    renamed: dict[str, str] = {}
    """Branches whose names were taken, and their new names."""


class AddArchiveRows(Change[AddedRows], frozen=True, kw_only=True):
    """Add rows of an archive, in the order of the archive. Rows that were added before change nothing."""

    op = Operation("memory.addRows", errors=(ArchiveInvalid,), audience="internal", is_long=True)

    origin: Name
    """The database that the archive comes from."""
    exported_at: Name
    rows: Annotated[list[ArchiveRow], Meta(max_length=1000)]


class SessionState(Session, frozen=True, kw_only=True):
    """A session. `already` is true if the request changed nothing."""

    already: bool = False


class ArchiveSession(Change[SessionState], frozen=True, kw_only=True):
    """Hide a session from lists, or list it again. Retention never removes an archived session's texts."""

    op = Operation("session.archive", errors=(SessionNotFound,))

    session_id: SessionId
    archived: bool = True


class Purged(Struct, frozen=True, kw_only=True):
    """Sessions and runs whose texts are removed."""

    session_ids: list[int]
    run_ids: list[int] = []
    already: bool = False
    """Whether all of them had been purged before."""
    left: int = 0
    """How many sessions wait: a request marks a few. Repeat it until none is left."""


class PurgeSession(Change[Purged], frozen=True, kw_only=True):
    """Remove the texts of an ended session and of the sessions below it. This cannot be undone.

    A request marks a few sessions; repeat it while `left` is not 0. Contents are removed in steps afterwards;
    `memory.purgeStep` performs one.
    """

    op = Operation("session.purge", errors=(SessionNotFound, SessionOpen))

    session_id: SessionId
    purged_by: Name
    reason: Text


class PurgeRun(Change[Purged], frozen=True, kw_only=True):
    """Remove the texts of a run that no one attends, and of the sessions of its lines. This cannot be undone.

    A request marks a few sessions; repeat it while `left` is not 0.
    """

    op = Operation("run.purge", errors=(RunNotFound, RunAttended, SessionOpen))

    run_id: Id
    purged_by: Name
    reason: Text


class PurgeSpan(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of a history whose contents no other history shows."""

    segment_id: int
    first: int
    last: int
    kept: list[int] = []
    """Contents of this part that commits outside of it carry, as far as a reader has seen."""
    seen: int = 0
    """The commit up to which the reader has looked for them: a step checks those behind it."""


class ReplyKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A reply that was kept for its idempotency key."""

    principal: Name
    key: Text


class PurgePlan(Struct, frozen=True, kw_only=True):
    """A branch whose contents are to be removed; no branch if there is none."""

    branch: str | None
    spans: list[PurgeSpan] = []
    """Contents to remove; the rest follows when none is left."""
    event_ids: list[int] = []
    replies: list[ReplyKey] = []
    image_hashes: list[str] = []
    left: int = 0
    """How many branches wait."""


class PlanPurge(Request[PurgePlan], frozen=True, kw_only=True):
    """Find the next branch whose contents are to be removed, and the parts of it that no other history shows."""

    op = Operation("memory.purgePlan", host="store", audience="internal")

    branch: Path | None = None
    """The branch of the plan before this one."""
    after_event: int = 0
    """Which events of that branch were read."""
    is_last: bool = False
    """Whether contents were removed before, so that the log of the database is to be emptied too if none is left."""


class PurgeStepReply(Struct, frozen=True, kw_only=True):
    """What a step removed."""

    blobs: int
    next: PurgeSpan | None
    """Where the next step of the same span starts; None if it is done."""


class PurgeStep(Change[PurgeStepReply], frozen=True, kw_only=True):
    """Remove a few contents of a branch that is being purged, or notes beside them; without any, end its purge."""

    op = Operation("memory.purgeStep", audience="internal")

    branch: Path
    span: PurgeSpan | None = None
    event_ids: Annotated[list[Id], Meta(max_length=200)] = []
    replies: Annotated[list[ReplyKey], Meta(max_length=100)] = []
    image_hashes: Annotated[list[Name], Meta(max_length=10)] = []
    limit: Annotated[int, Meta(ge=1, le=50)] = 50


class RetentionReply(Struct, frozen=True, kw_only=True):
    """What retention did."""

    purged: list[int] = []
    """Sessions."""
    purged_runs: list[int] = []
    announced: bool = False
    """Whether a notice says that a purge will follow."""


class ApplyRetention(Change[RetentionReply], frozen=True, kw_only=True):
    """Mark a few sessions and runs for purging that are older than the owner keeps them."""

    op = Operation("memory.retain", audience="internal")

    sessions_days: Annotated[int, Meta(ge=1)] | None = None
    runs_days: Annotated[int, Meta(ge=1)] | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 5


SizeKind = Literal["content", "records", "index", "file"]


class SizePart(Struct, frozen=True, kw_only=True):
    """Something that takes space."""

    name: str
    kind: SizeKind
    bytes: int
    rows: int | None = None


class SizeReport(Struct, frozen=True, kw_only=True):
    """What takes the space of a database, largest first."""

    total_bytes: int
    parts: list[SizePart]
    oldest_session: datetime | None = None


class DatabaseSize(Request[SizeReport], frozen=True, kw_only=True):
    """Show what takes the space of the database: contents, records, indexes and its files."""

    op = Operation("db.size", host="store", is_long=True)
