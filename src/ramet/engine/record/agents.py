"""Agents: stable identities, and the efforts they hold."""

from collections.abc import Sequence
from datetime import timedelta

from msgspec.structs import replace

from ramet.engine.answers import answers
from ramet.engine.record import lookup, ownership
from ramet.engine.transaction import Transaction
from ramet.model.instant import to_datetime, to_iso
from ramet.model.record.activity import Activity, describe_call
from ramet.model.record.agent import Agent, FleetMember
from ramet.model.record.session import (
    Patience,
    Session,
    SessionStatus,
    WaitsFor,
    derive_status,
)
from ramet.protocol.pages import take
from ramet.protocol.record.agents import (
    AssignAgent,
    CountRows,
    Counts,
    FleetStale,
    FleetStatus,
    GetAgent,
    ListAgents,
    RegisterAgent,
)
from ramet.protocol.replies import Page
from ramet.store.hooks import hooks, resume_contracts
from ramet.store.record import agents, messages, sessions

_GOAL_CHARACTERS = 200


@answers(RegisterAgent)
def register(tx: Transaction, request: RegisterAgent) -> Agent:
    """Register an agent, or change what is given; what is not given stays."""
    known = agents.find(tx.db, request.id)
    agent = agents.register(tx.db, request.id, request.label, request.claims)
    if agent != known:
        tx.record("agent.registered", agent_id=agent.id)
    return agent


@answers(GetAgent)
def get(tx: Transaction, request: GetAgent) -> Agent:
    """An agent and the effort it holds."""
    return lookup.agent(tx, request.id)


@answers(ListAgents)
def list_all(tx: Transaction, request: ListAgents) -> Page[Agent]:
    """All agents, or without those that hold an effort of another project."""
    found = agents.list_all(tx.db, lookup.project_id(tx, request.project))
    items, last = take(found, lambda agent: agent.id, after=request.cursor, limit=request.limit)
    return Page(items=items, next=last)


@answers(AssignAgent)
def assign(tx: Transaction, request: AssignAgent) -> Agent:
    """Give an agent an effort, or take its effort away."""
    agent = lookup.agent(tx, request.id)
    if request.effort_id is not None:
        effort = lookup.unfinished_effort(tx, request.effort_id)
        ownership.acquire(tx, agent, effort.id)
    elif agent.effort_id is not None:
        ownership.release(tx, agent.effort_id)
    return lookup.agent(tx, request.id)


@answers(CountRows)
def count(tx: Transaction, _request: CountRows) -> Counts:
    """How much there is of everything, and how much of it is going on."""
    return agents.count(tx.db)


@answers(FleetStatus)
def show_fleet(tx: Transaction, request: FleetStatus) -> Page[FleetMember]:
    """Every agent that holds an effort, and what its session is doing."""
    members = agents.list_fleet(tx.db, lookup.project_id(tx, request.project), tx.now)
    asked = find_first_prompts(tx, [each.session_id for each in members if each.session_id and each.goal is None])
    answered = list_answered(tx, [each.session_id for each in members if each.session_id and _is_idle_by_hand(each)])
    activities = find_activities(tx, [each.session_id for each in members if each.session_id])
    return Page(
        items=[
            replace(
                member,
                goal=member.goal or asked.get(member.session_id or 0),
                status=_status(tx, member, waits_for_person=member.session_id in answered),
                prompt=member.goal if member.is_queued else doing.prompt or asked.get(member.session_id or 0),
                tool=doing.tool,
            )
            for member in members
            for doing in [activities.get(member.session_id or 0, Activity(None, None))]
        ]
    )


def find_first_prompts(tx: Transaction, session_ids: Sequence[int]) -> dict[int, str]:
    """The beginning of what a person asked each of these sessions for: to what end it is, where no effort says it."""
    found = resume_contracts.list_first_prompts(tx.db, tx.codec, session_ids) if session_ids else {}
    return {session_id: text[:_GOAL_CHARACTERS] for session_id, text in found.items()}


def find_activities(tx: Transaction, session_ids: Sequence[int]) -> dict[int, Activity]:
    """What each of these sessions does now: the beginning of its newest prompt, and its newest tool call since then."""
    if not session_ids:
        return {}
    prompts = messages.list_newest_prompts(tx.db, tx.codec, session_ids)
    calls = messages.list_newest_calls(tx.db, tx.codec, session_ids)
    found = {}
    for session_id in prompts.keys() | calls.keys():
        prompt, call = prompts.get(session_id), calls.get(session_id)
        is_since = call is not None and (prompt is None or call.place > prompt.place)
        found[session_id] = Activity(
            prompt=prompt.text[:_GOAL_CHARACTERS] if prompt else None,
            tool=describe_call(call.tool, call.given) if call and is_since else None,
        )
    return found


def list_answered(tx: Transaction, session_ids: Sequence[int]) -> set[int]:
    """Those of these sessions whose agent has answered: where a person started it, it waits for that person."""
    return hooks.list_answered(tx.db, session_ids) if session_ids else set()


def _is_idle_by_hand(member: FleetMember) -> bool:
    return member.is_lease_over is None and member.native_id is not None and not member.tools_in_flight


@answers(FleetStale)
def show_stale(tx: Transaction, _request: FleetStale) -> Page[Session]:
    """Open sessions without a sign of life for as long as `limits.stale_seconds` says."""
    before = to_iso(tx.now_ms - tx.limits.stale_seconds * 1000)
    return Page(items=sessions.list_silent(tx.db, before, tx.limits.page_max))


def _status(tx: Transaction, member: FleetMember, *, waits_for_person: bool) -> SessionStatus | None:
    if member.session_id is None:
        return None
    is_leased = member.is_lease_over is not None
    return derive_status(
        ended_at=None,
        last_heartbeat=member.last_heartbeat,
        created_at=member.since,
        now=to_datetime(tx.now_ms),
        patience=patience(tx, is_leased=is_leased),
        has_tool_in_flight=bool(member.tools_in_flight),
        is_lease_over=bool(member.is_lease_over),
        waits_for=_waits_for(member, waits_for_person=waits_for_person),
    )


def _waits_for(member: FleetMember, *, waits_for_person: bool) -> WaitsFor | None:
    if member.permission_tool is not None:
        return "approval"
    return "child" if member.is_awaiting else "person" if waits_for_person else None


def patience(tx: Transaction, *, is_leased: bool) -> Patience:
    """Only an agent that was started from the queue has somebody who would end it."""
    stuck = tx.work.stuck_seconds if is_leased else 0
    return Patience(
        silent=timedelta(seconds=tx.work.silent_seconds if is_leased else tx.limits.stale_seconds),
        stuck=timedelta(seconds=stuck) if stuck else None,
    )
