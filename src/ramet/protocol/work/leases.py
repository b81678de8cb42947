"""Requests and replies about claims, leases and outcomes."""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from ramet.errors import EffortNotFound, LeaseLost, ProjectNotFound
from ramet.model.record.effort import Changes, Failure, Outcome, StopRequest
from ramet.protocol.fields import Content, DriverName, Id, Name, Path, ProjectRef
from ramet.protocol.operation import Change, Operation
from ramet.protocol.record.efforts import EffortReply
from ramet.protocol.work.hosts import NotStarted

Refusal = Literal["missing", "not_queued", "blocked", "lost", "busy"]
"""Why a claim was refused. missing: there is no such effort, or no effort is ready; not_queued: the effort is finished,
or was never in the queue; blocked: it waits for another effort, for a time, or for another worker; lost: another worker
holds it; busy: the worker holds another effort.
"""

Instance = Annotated[str, Meta(pattern=r"^[a-z0-9]{8,64}$")]

LeaseSeconds = Annotated[int, Meta(ge=1, le=86_400)]

Generation = Annotated[int, Meta(ge=1, le=2**31 - 1)]


class Claimed(EffortReply, frozen=True, kw_only=True):
    """The effort that the worker now holds, with the lease's generation."""

    generation: int


class Refused(Struct, frozen=True, kw_only=True):
    """Why a worker did not get an effort."""

    refused: Refusal
    detail: str


class ClaimWork(Change[Claimed | Refused], frozen=True, kw_only=True):
    """Claim the next effort, or a given one, under a lease. A refusal says why."""

    op = Operation("work.claim", errors=(ProjectNotFound,), locks_rows=True)

    worker: Name
    effort_id: Id | None = None
    drivers: list[DriverName] | None = None
    """Claim only efforts that name one of these drivers, or no driver."""
    project: ProjectRef | None = None
    run: Id | None = None
    """Claim only lines of this run (default: only efforts that belong to no run)."""
    host: Name | None = None
    """Claim only efforts of projects that are on this machine, or whose machine is unknown."""
    held: list[Id] | None = None
    """Projects to leave out: their budgets are used up."""
    lease_seconds: LeaseSeconds | None = None


class Lease(Struct, frozen=True, kw_only=True):
    """A renewed lease, and whether its holder is asked to stop."""

    effort_id: int
    generation: int
    expires_at: datetime
    stop: StopRequest | None = None


class RenewLease(Change[Lease], frozen=True, kw_only=True):
    """Renew a lease. The reply says whether its holder is asked to stop."""

    op = Operation("work.renew", errors=(EffortNotFound, LeaseLost), locks_rows=True)

    effort_id: Id
    generation: Generation
    lease_seconds: LeaseSeconds | None = None


class Completed(EffortReply, frozen=True, kw_only=True):
    """The effort after a report of its outcome."""

    ignored: bool = False
    """Whether the lease was lost: the report was recorded and changed nothing."""
    requeued: bool = False
    """Whether another attempt will be made."""


class CompleteWork(Change[Completed], frozen=True, kw_only=True):
    """Complete a claimed effort with its outcome and output. A report with an older generation changes nothing."""

    op = Operation("work.complete", errors=(EffortNotFound,), locks_rows=True)

    effort_id: Id
    generation: Generation
    outcome: Outcome
    output_content: Content | None = None
    report_file: Path | None = None
    reason: Content | None = None
    usage: dict[str, int | float] | None = None
    """Tokens and cost used, if no session has reported them."""
    failure: Failure | None = None
    """The kind of failure. Some kinds are retried, within the limits of `work.*`."""
    retry_at: datetime | None = None
    """The earliest time of the next attempt, if it is known."""
    is_fresh: bool = False
    """Whether the next attempt starts a new context window, because this one holds nothing worth continuing."""
    has_begun: bool = False
    """Whether the agent's program got as far as its context window. A failure after that is not the program's own."""
    not_started: NotStarted | None = None
    """If the attempt failed before its agent started: where, and whether that is a failure of the host."""
    git_head: Name | None = None
    git_branch: Name | None = None
    changes: Changes | None = None
    metadata: dict[str, Any] | None = None
    """Entries to add to the effort's metadata."""
