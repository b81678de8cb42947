"""A session: one context window of one agent, serving one effort at a time.

`prev_session_id` is the session it continues, `parent_session_id` the one that spawned it. Its status is
computed from these facts and stored nowhere, so it cannot disagree with them.
"""

from datetime import datetime, timedelta
from typing import Any, Literal

from msgspec import Struct

from ramet.model.effort import Outcome

SessionRef = int | str
"""A session's integer id, or `driver:native_id`."""

SessionStatus = Literal["starting", "running", "detecting", "ended"]


class Session(Struct, frozen=True, kw_only=True):
    """One row of `sessions`."""

    id: int
    task_id: str
    effort_id: int
    prev_session_id: int | None
    parent_session_id: int | None
    root_session_id: int
    spawn_depth: int
    agent_id: str | None
    driver: str | None
    native_id: str | None
    pid: int | None
    instance: str | None
    generation: int
    branch: str
    heartbeat_counter: int
    last_heartbeat: datetime | None
    context_usage: float | None
    loaded_files: list[str] | None
    dehydration_payload: dict[str, Any] | None
    outcome: Outcome | None
    notes: str | None
    created_at: datetime
    ended_at: datetime | None


def derive_status(
    *,
    ended_at: datetime | None,
    last_heartbeat: datetime | None,
    created_at: datetime,
    now: datetime,
    stale: timedelta,
) -> SessionStatus:
    """What a session is doing, from what is recorded about it."""
    if ended_at is not None:
        return "ended"
    if now - (last_heartbeat or created_at) > stale:
        return "detecting"
    return "running" if last_heartbeat else "starting"
