"""An agent: a stable identity in the fleet. It owns at most one active effort, and an effort at most one agent."""

from datetime import datetime

from msgspec import Struct

from ramet.model.record.session import SessionStatus


class Agent(Struct, frozen=True, kw_only=True):
    """One row of `agents`, with the skill, phase and task of its effort."""

    id: str
    label: str | None
    claims: list[str] | None
    effort_id: int | None
    skill: str | None
    current_phase: str | None
    task_id: str | None
    project_id: int | None = None
    """The project of the effort that it holds."""


class FleetMember(Struct, frozen=True, kw_only=True):
    """One row of `fleet_status`: an agent and what it is doing."""

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
    """The start of its prompt."""
    tools_in_flight: list[str] | None = None
    cost_usd: float | None = None
    """The cost of its session, if it is known."""
    is_cost_estimated: bool = False
    """Whether a part of the cost is estimated from the price table."""
    is_lease_over: bool | None = None
    """None if its effort was not claimed from the queue."""
    is_awaiting: bool = False
    """Whether its session waits for a child."""
    permission_tool: str | None = None
    """The tool for which its program, or a sub-agent of it, asks a person for permission."""
    native_id: str | None = None
    """The vendor's id of its session."""
    status: SessionStatus | None = None
    driver_name: str | None = None
    """Its driver, or the profile that the user configured for it."""
    is_queued: bool = False
    """Whether its effort came with a prompt: from the queue, from a run or as a child."""
    prompt: str | None = None
    """The beginning of the newest prompt that it was given."""
    refused: int = 0
    """How many calls of its effort were refused."""
    tool: str | None = None
    """Its newest tool call since that prompt: `Bash: make test`."""
    project_id: int | None = None
    """The project of its effort."""
    title: str | None = None
    """The name of its session in its program."""
