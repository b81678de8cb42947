"""Requests and replies about agents and the fleet."""

from msgspec import Struct

from ramet.errors import AgentBusy, AgentNotFound, EffortFinished, EffortHeld, EffortNotFound, ProjectNotFound
from ramet.model.record.agent import Agent, FleetMember
from ramet.model.record.session import Session
from ramet.protocol.fields import Id, Name, ProjectRef, Text
from ramet.protocol.operation import Change, Operation, Pages, Request
from ramet.protocol.pages import Limit
from ramet.protocol.replies import Page


class RegisterAgent(Change[Agent], frozen=True, kw_only=True):
    """Register an agent, or change the given fields."""

    op = Operation("db.agents.register")

    id: Name
    label: Text | None = None
    claims: list[Name] | None = None


class GetAgent(Request[Agent], frozen=True, kw_only=True):
    """Show an agent and the effort that it holds."""

    op = Operation("db.agents.get", errors=(AgentNotFound,))

    id: Name


class ListAgents(Request[Page[Agent]], frozen=True, kw_only=True):
    """List all agents and the efforts that they hold."""

    op = Operation("db.agents.list", errors=(ProjectNotFound,), is_long=True, pages=Pages())

    project: ProjectRef | None = None
    """Leave out the agents that hold an effort of another project (default: list all)."""
    limit: Limit | None = None
    cursor: Name | None = None


class AssignAgent(Change[Agent], frozen=True, kw_only=True):
    """Assign an effort to an agent; null releases the agent's effort."""

    op = Operation("db.agents.assign", errors=(AgentNotFound, EffortNotFound, EffortFinished, EffortHeld, AgentBusy))

    id: Name
    effort_id: Id | None


class Counts(Struct, frozen=True, kw_only=True):
    """How many projects, tasks, efforts, sessions, messages and agents there are."""

    projects: int
    tasks: int
    efforts: int
    queued_efforts: int
    active_efforts: int
    sessions: int
    open_sessions: int
    messages: int
    agents: int


class CountRows(Request[Counts], frozen=True, kw_only=True):
    """Count the projects, tasks, efforts, sessions, messages and agents."""

    op = Operation("db.counts", is_long=True)


class FleetStatus(Request[Page[FleetMember]], frozen=True, kw_only=True):
    """List the agents that hold an effort, and what they are doing."""

    op = Operation("fleet.status", errors=(ProjectNotFound,), is_long=True)

    project: ProjectRef | None = None
    """List only the agents of this project (default: all)."""


class FleetStale(Request[Page[Session]], frozen=True, kw_only=True):
    """List the open sessions without a heartbeat for `limits.stale_seconds`."""

    op = Operation("fleet.stale", is_long=True)
