"""Requests and replies about agents and the fleet."""

from msgspec import Struct

from ramet.errors import AgentBusy, AgentNotFound, EffortFinished, EffortHeld, EffortNotFound
from ramet.model.record.agent import Agent, FleetMember
from ramet.model.record.session import Session
from ramet.protocol.fields import Id, Name, Text
from ramet.protocol.operation import Change, Operation, Request
from ramet.protocol.replies import Page


class RegisterAgent(Change[Agent], frozen=True, kw_only=True):
    """Register an agent, or change what is given."""

    op = Operation("db.agents.register")

    id: Name
    label: Text | None = None
    claims: list[Name] | None = None


class GetAgent(Request[Agent], frozen=True, kw_only=True):
    """An agent and the effort it holds."""

    op = Operation("db.agents.get", errors=(AgentNotFound,))

    id: Name


class ListAgents(Request[Page[Agent]], frozen=True, kw_only=True):
    """All agents and the efforts they hold."""

    op = Operation("db.agents.list")


class AssignAgent(Change[Agent], frozen=True, kw_only=True):
    """Give an agent an effort, or with null take its effort away."""

    op = Operation("db.agents.assign", errors=(AgentNotFound, EffortNotFound, EffortFinished, EffortHeld, AgentBusy))

    id: Name
    effort_id: Id | None


class Counts(Struct, frozen=True, kw_only=True):
    """How much there is of everything, and how much of it is going on."""

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
    """How much there is of everything, and how much of it is going on."""

    op = Operation("db.counts")


class FleetStatus(Request[Page[FleetMember]], frozen=True, kw_only=True):
    """Who is doing what: every agent that holds an effort."""

    op = Operation("fleet.status")


class FleetStale(Request[Page[Session]], frozen=True, kw_only=True):
    """Open sessions without a sign of life for as long as limits.stale_seconds says."""

    op = Operation("fleet.stale")
