"""An agent: a stable identity in the fleet. It owns at most one active effort, and an effort at most one agent."""

from datetime import datetime

from msgspec import Struct

from ramet.model.record.session import SessionStatus


class Agent(Struct, frozen=True, kw_only=True):
    """One row of `agents`, with what its effort says."""

    id: str
    label: str | None
    claims: list[str] | None
    effort_id: int | None
    skill: str | None
    current_phase: str | None
    task_id: str | None


class FleetMember(Struct, frozen=True, kw_only=True):
    """One row of `fleet_status`: who is doing what."""

    agent: str
    label: str | None
    skill: str
    current_phase: str | None
    heartbeat_counter: int | None
    context_usage: float | None
    task_id: str
    effort_id: int
    ordinal: int
    session_id: int | None
    last_heartbeat: datetime | None
    since: datetime
    goal: str | None = None
    """The beginning of what it was asked to do."""
    tools_in_flight: list[str] | None = None
    cost_usd: float | None = None
    """Of its session, where that has said."""
    is_lease_over: bool | None = None
    """None where its effort was not claimed from the queue."""
    is_awaiting: bool = False
    """Whether its session waits for a child."""
    native_id: str | None = None
    """What its program calls its session."""
    status: SessionStatus | None = None
