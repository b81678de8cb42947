"""The state of an effort as people see it: derived from its row, and stored nowhere.

The database keeps one of three lifecycles (`TRANSITIONS`). Whether a queued effort can be claimed, and whether somebody
runs an active one, follows from the efforts that it needs, the time, its lease, and the session that waits for it.
"""

from datetime import datetime
from typing import Literal

from ramet.model.record.effort import Effort, Lifecycle, Outcome

State = Literal[
    "ready",
    "blocked",
    "parked",
    "awaited",
    "running",
    "stopping",
    "expired",
    "manual",
    "succeeded",
    "unchanged",
    "failed",
]

MEANINGS: dict[State, str] = {
    "ready": "queued: the next suitable worker can claim it",
    "blocked": "queued: it needs another effort that has not succeeded",
    "parked": "queued: its next attempt has to wait until a time, after a failure or because of a limit",
    "awaited": "queued: a session waits for it and runs it in its own slot",
    "running": "active: a worker holds a lease on it",
    "stopping": "active: a worker holds a lease on it and is asked to stop it",
    "expired": "active: its lease has expired, and the next claim takes it over",
    "manual": "active: it is run by hand, and no worker can claim it",
    "succeeded": "finished with `success`",
    "unchanged": "finished with `no_change`: its skill changes code, and it changed no file",
    "failed": "finished with any other outcome",
}

BY_LIFECYCLE: dict[Lifecycle, tuple[State, ...]] = {
    "queued": ("ready", "blocked", "parked", "awaited"),
    "active": ("running", "stopping", "expired", "manual"),
    "finished": ("succeeded", "unchanged", "failed"),
}
"""The states that each stored lifecycle can mean."""

FIRST: tuple[State, ...] = ("ready", "blocked", "awaited", "manual", "succeeded")
"""The states in which an effort begins. A line of a task file that is checked off already has succeeded."""

FOLLOWS: dict[State, tuple[State, ...]] = {
    "ready": ("running", "blocked", "awaited", "succeeded", "unchanged", "failed"),
    "blocked": ("ready", "parked", "succeeded", "unchanged", "failed"),
    "parked": ("ready", "blocked", "awaited", "succeeded", "unchanged", "failed"),
    "awaited": ("running", "ready", "succeeded", "unchanged", "failed"),
    "running": ("stopping", "expired", "ready", "blocked", "parked", "awaited", "succeeded", "unchanged", "failed"),
    "stopping": ("expired", "ready", "blocked", "parked", "awaited", "succeeded", "unchanged", "failed"),
    "expired": ("running", "stopping", "ready", "blocked", "parked", "awaited", "succeeded", "unchanged", "failed"),
    "manual": ("succeeded", "unchanged", "failed"),
    "succeeded": ("manual",),
    "unchanged": ("ready", "blocked", "manual"),
    "failed": ("ready", "blocked", "manual"),
}
"""From each state, the states that one operation, or the time that passes, may lead to. A ready effort is blocked again
if somebody retries an effort that it needs; a lease that ran out runs again if its holder renews it before another
worker takes the effort over.
"""


_FINISHED: dict[Outcome | None, State] = {"success": "succeeded", "no_change": "unchanged"}


def derive_state(effort: Effort, now: datetime, *, blocked_by: int | None) -> State:
    """What an effort is doing; `blocked_by` is the first effort that it needs and that has not succeeded."""
    match effort.lifecycle:
        case "queued":
            return _derive_queued(effort, now, blocked_by)
        case "active":
            return _derive_active(effort, now)
        case "finished":
            return _FINISHED.get(effort.outcome, "failed")


def _derive_queued(effort: Effort, now: datetime, blocked_by: int | None) -> State:
    # The order matters: an effort that needs another cannot start when its time comes, nor when a session waits for it.
    if blocked_by is not None:
        return "blocked"
    if effort.retry.not_before is not None and effort.retry.not_before > now:
        return "parked"
    return "ready" if effort.spawn.awaited_by is None else "awaited"


def _derive_active(effort: Effort, now: datetime) -> State:
    if effort.lease.owner is None:
        return "manual"
    # Nobody reads the stop request of a lease that ran out.
    if effort.lease.expires_at is not None and effort.lease.expires_at < now:
        return "expired"
    return "running" if effort.stop_request is None else "stopping"
