"""Requests and replies about claims, leases and outcomes."""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from ramet.errors import EffortNotFound, LeaseLost, ProjectNotFound
from ramet.model.record.effort import Changes, Failure, Outcome, StopRequest
from ramet.protocol.fields import Content, DriverName, Id, Name, Path, ProjectRef
from ramet.protocol.operation import Change, Operation
from ramet.protocol.record.efforts import EffortReply

Refusal = Literal["missing", "not_queued", "blocked", "lost", "busy"]
"""Why a claim was refused. missing: there is no such effort, or none is ready; not_queued: it is finished, or was never
in the queue; blocked: it waits for another, for a time, or for a worker that may take it; lost: somebody else holds it;
busy: the worker holds another.
"""

Instance = Annotated[str, Meta(pattern=r"^[a-z0-9]{8,64}$")]

LeaseSeconds = Annotated[int, Meta(ge=1, le=86_400)]

Generation = Annotated[int, Meta(ge=1, le=2**31 - 1)]


class Claimed(EffortReply, frozen=True, kw_only=True):
    """The effort that the worker now holds, under the lease's generation."""

    generation: int


class Refused(Struct, frozen=True, kw_only=True):
    """Why a worker got no effort."""

    refused: Refusal
    detail: str


class ClaimWork(Change[Claimed | Refused], frozen=True, kw_only=True):
    """Take the next effort, or the one named, under a lease; or be told why not."""

    op = Operation("work.claim", errors=(ProjectNotFound,), locks_rows=True)

    worker: Name
    effort_id: Id | None = None
    drivers: list[DriverName] | None = None
    """Only efforts that name one of these, or none."""
    project: ProjectRef | None = None
    run: Id | None = None
    """Only lines of this run; without one only efforts that belong to none."""
    host: Name | None = None
    """Only efforts of projects that are on this host, or that nobody has said of where they are."""
    lease_seconds: LeaseSeconds | None = None


class Lease(Struct, frozen=True, kw_only=True):
    """A lease that goes on, and whether its holder is asked to stop."""

    effort_id: int
    generation: int
    expires_at: datetime
    stop: StopRequest | None = None


class RenewLease(Change[Lease], frozen=True, kw_only=True):
    """Keep a lease, and hear whether its holder is asked to stop."""

    op = Operation("work.renew", errors=(EffortNotFound, LeaseLost), locks_rows=True)

    effort_id: Id
    generation: Generation
    lease_seconds: LeaseSeconds | None = None


class Completed(EffortReply, frozen=True, kw_only=True):
    """The effort after a report of its outcome."""

    ignored: bool = False
    """The lease was gone: the report was written down and changed nothing."""
    requeued: bool = False
    """Another attempt will be made."""


class CompleteWork(Change[Completed], frozen=True, kw_only=True):
    """Give a claimed effort its outcome and output. A report of an older generation changes nothing."""

    op = Operation("work.complete", errors=(EffortNotFound,), locks_rows=True)

    effort_id: Id
    generation: Generation
    outcome: Outcome
    output_content: Content | None = None
    report_file: Path | None = None
    reason: Content | None = None
    usage: dict[str, int | float] | None = None
    """What was used, where no session has reported it."""
    failure: Failure | None = None
    """The kind of failure; some kinds are followed by another attempt, within the bounds of `work.*`."""
    retry_at: datetime | None = None
    """Not before this, where it is known when another attempt can succeed."""
    is_fresh: bool = False
    """Whether the next attempt begins anew: nothing was said in this context window that is worth going on with."""
    git_head: Name | None = None
    git_branch: Name | None = None
    changes: Changes | None = None
    metadata: dict[str, Any] | None = None
    """More about it, which joins what the effort's metadata says already."""
