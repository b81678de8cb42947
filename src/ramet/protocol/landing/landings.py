"""Requests and replies about the landing queue."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from ramet.errors import LandingNotFound, LandingRefused, LeaseLost, ProjectNotFound
from ramet.model.landing.landing import LandingKind, LandingOutcome, LandingState, Method
from ramet.protocol.fields import Id, Name, Path, ProjectRef, Text
from ramet.protocol.operation import Change, Operation, Pages, Request
from ramet.protocol.pages import Limit
from ramet.protocol.replies import Page
from ramet.protocol.work.leases import Generation

Commit = Annotated[str, Meta(pattern=r"^[0-9a-f]{40,64}$")]


class LandingRow(Struct, frozen=True, kw_only=True):
    """A landing, and the one that it waits for."""

    # The columns of the model's `Landing`, flat and in the order of the table; a test compares the two.
    id: int
    project_id: int
    host: str
    directory: str
    repository: str
    target: str
    kind: LandingKind
    method: Method
    state: LandingState
    efforts: list[int]
    needs: list[int]
    undoes: int | None
    branch: str
    head: str
    left_out: list[str]
    message: str
    checks: dict[str, str]
    reason: str | None
    files: list[str]
    log: str | None
    tip: str | None
    tested: str | None
    attempts: int
    created_at: datetime
    finished_at: datetime | None
    lease_owner: str | None
    lease_generation: int
    lease_expires_at: datetime | None
    blocked_by: int | None = None
    """The landing that has to land first, and has not; null if it can land now."""
    already: bool = False
    """Whether it was in the queue, or had landed, before."""


class NewLanding(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A branch to land."""

    efforts: list[Id]
    needs: list[Id] = []
    """Efforts whose landings have to land first, if there are any."""
    branch: Name
    head: Commit
    left_out: list[Commit] = []
    message: Text


class QueueLandings(Change[Page[LandingRow]], frozen=True, kw_only=True):
    """Queue branches for a target, in their order. A branch that is queued or has landed is not queued again."""

    op = Operation("landing.queue", errors=(ProjectNotFound,), audience="internal")

    project: ProjectRef
    host: Annotated[str, Meta(max_length=200)] = ""
    directory: Path
    repository: Path
    target: Name
    method: Method
    checks: dict[Name, Text] = {}
    entries: Annotated[list[NewLanding], Meta(min_length=1, max_length=10_000)]


class ListLandings(Request[Page[LandingRow]], frozen=True, kw_only=True):
    """List landings, newest first."""

    op = Operation("landing.list", errors=(ProjectNotFound,), pages=Pages())

    project: ProjectRef | None = None
    state: LandingState | None = None
    cursor: Id | None = None
    limit: Limit = 100


class GetLanding(Request[LandingRow], frozen=True, kw_only=True):
    """Show a landing."""

    op = Operation("landing.get", errors=(LandingNotFound,))

    landing_id: Id


class RetryLanding(Change[LandingRow], frozen=True, kw_only=True):
    """Queue a landing again that failed, conflicted, stopped or was dropped."""

    op = Operation("landing.retry", errors=(LandingNotFound, LandingRefused))

    landing_id: Id


class DropLanding(Change[LandingRow], frozen=True, kw_only=True):
    """Remove a landing from the queue. The branch stays."""

    op = Operation("landing.drop", errors=(LandingNotFound, LandingRefused))

    landing_id: Id


class UndoLanding(Change[LandingRow], frozen=True, kw_only=True):
    """Queue the undoing of a landing. The last one is taken back; of an earlier or pushed one, a tested commit reverts
    the changes.
    """

    op = Operation("landing.undo", errors=(LandingNotFound, LandingRefused))

    landing_id: Id


class ClaimedLanding(Struct, frozen=True, kw_only=True):
    """The landing that a lander has now, and the one that it undoes; null if there is none to claim."""

    landing: LandingRow | None = None
    undoes: LandingRow | None = None


class ClaimLanding(Change[ClaimedLanding], frozen=True, kw_only=True):
    """Give a lander the next landing of this machine. Each target has one lander at a time."""

    op = Operation("landing.claim", audience="internal", locks_rows=True)

    host: Annotated[str, Meta(max_length=200)] = ""
    lander: Name
    lease_seconds: Annotated[int, Meta(ge=1, le=86_400)] = 60
    takes_over: bool = False
    """Whether the lander's own leases are from before it was restarted, and may be taken over now."""


class RenewLanding(Change[LandingRow], frozen=True, kw_only=True):
    """Renew the lease of a landing."""

    op = Operation("landing.renew", errors=(LandingNotFound, LeaseLost), audience="internal")

    landing_id: Id
    generation: Generation
    lease_seconds: Annotated[int, Meta(ge=1, le=86_400)] = 60


class NoteTested(Change[LandingRow], frozen=True, kw_only=True):
    """Record the commit that passed the checks, before the target moves to it."""

    op = Operation("landing.note_tested", errors=(LandingNotFound, LeaseLost), audience="internal")

    landing_id: Id
    generation: Generation
    tip: Commit
    tested: Commit
    log: Path | None = None


class FinishLanding(Change[LandingRow], frozen=True, kw_only=True):
    """Record what became of a landing."""

    op = Operation("landing.finish", errors=(LandingNotFound, LeaseLost), audience="internal")

    landing_id: Id
    generation: Generation
    outcome: LandingOutcome | None
    """Null to put it back into the queue."""
    reason: Text | None = None
    files: list[str] = []
    log: Path | None = None
