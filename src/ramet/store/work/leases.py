"""What is remembered of who has which effort, and for how long.

On PostgreSQL several daemons share the leases, so there the server's own time says when one begins and runs out.
"""

from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from ramet.model.record.effort import Claim, Effort, StopRequest
from ramet.model.work.retry_policy import Scope, Tried
from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile
from ramet.store.work.queue import scope_params

_sql = QueryFile("work/leases")


class Worker(Struct, frozen=True):
    """A worker as a claim sees it."""

    claims: list[str] | None
    """The skills that it may take; None means all."""
    holds: int | None
    """The effort that it has already."""
    has_expired: bool
    """Whether a lease has run out, be it its own or another's."""


class Held(Tried, frozen=True, kw_only=True):
    """As much of an effort as whoever lets it go needs to know."""

    task_id: str
    skill: str
    claim: Claim
    stop_request: StopRequest | None
    metadata: dict[str, Any] | None
    avoid_host: str | None
    """The host on which its last attempt failed before the agent started."""
    is_attended: bool
    """Whether it has sessions or an agent."""
    is_awaiting: bool
    """Whether its sessions wait for children."""


class Renewal(Struct, frozen=True):
    """A lease that goes on."""

    lease_expires_at: datetime
    stop_request: StopRequest | None


def find_worker(db: Connection, worker: str, now: str) -> Worker:
    """What a worker may take, and what it holds."""
    claims, holds, has_expired = db.must(_sql.worker, worker=worker, now=now)
    return Worker(None if claims is None else msgspec.json.decode(claims, type=list[str]), holds, bool(has_expired))


def find_held(db: Connection, effort_id: int) -> Held | None:
    """An effort, as whoever lets it go sees it."""
    return db.struct(Held, _sql.held, id=effort_id)


def claim_next(db: Connection, worker: str, scope: Scope, *, lease_seconds: int, now: str) -> Effort | None:
    """Give a worker the next effort that is ready."""
    lease = {"worker": worker, "lease_seconds": lease_seconds, "now": now}
    return db.struct(Effort, _sql.claim_next, **lease, **scope_params(scope))


def claim(db: Connection, effort_id: int, worker: str, *, lease_seconds: int, now: str) -> Effort | None:
    """Give a worker an effort that is ready; None where somebody else was faster."""
    return db.struct(Effort, _sql.claim, id=effort_id, worker=worker, lease_seconds=lease_seconds, now=now)


def list_expired(db: Connection, now: str, lease_seconds: int) -> list[Effort]:
    """The efforts whose lease has run out, while it could be renewed: for one lease after an outage, its holders go
    first.
    """
    return db.structs(Effort, _sql.expired, now=now, lease_seconds=lease_seconds)


def take_expired(db: Connection, now: str, lease_seconds: int) -> list[Held]:
    """The same, locked until this transaction ends. None while an outage may not be on record yet."""
    if db.is_out_of_touch:
        return []
    return db.structs(Held, _sql.take_expired, now=now, lease_seconds=lease_seconds)


def has_begun_since(db: Connection, effort_id: int, generation: int) -> bool:
    """Whether an attempt has begun under a later lease."""
    return db.one(_sql.begun_since, id=effort_id, generation=generation) is not None


def correct_session(db: Connection, effort_id: int, generation: int, outcome: str) -> None:
    """Give the session of an attempt whose lease was lost the outcome that came late."""
    db.run(_sql.correct_session, id=effort_id, generation=generation, outcome=outcome)


def renew(db: Connection, effort_id: int, generation: int, *, lease_seconds: int, now: str) -> Renewal | None:
    """Let a lease go on, even one that is past its time; None where it is somebody else's."""
    return db.struct(Renewal, _sql.renew, id=effort_id, generation=generation, lease_seconds=lease_seconds, now=now)


def renew_if_low(db: Connection, effort_id: int, generation: int, *, lease_seconds: int, now: str) -> bool:
    """Let a lease go on where much of it is used up; whether it was."""
    row = db.one(_sql.renew_if_low, id=effort_id, generation=generation, lease_seconds=lease_seconds, now=now)
    return row is not None


def find_worktree_user(db: Connection, worktree: str, effort_id: int) -> int | None:
    """The effort beside this one that is at work in a worktree."""
    row = db.one(_sql.worktree_user, worktree=worktree, id=effort_id)
    return None if row is None else int(row[0])


class Start(Struct, frozen=True, kw_only=True):
    """Where an attempt is made, and with what; what is None stays as it was."""

    driver: str
    model: str | None
    worktree: str | None
    git_branch: str | None
    git_base: str | None
    git_host: str | None


def begin(db: Connection, effort_id: int, start: Start) -> Effort:
    """Note where an attempt is made."""
    return db.must_struct(Effort, _sql.begin, id=effort_id, **asdict(start))


def uncount(db: Connection, effort_id: int) -> None:
    """A claim that came to no attempt is none of those that are counted."""
    db.run(_sql.uncount, id=effort_id)
