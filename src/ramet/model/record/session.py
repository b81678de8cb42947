"""A session: one context window of one agent, serving one effort at a time.

`prev_session_id` is the session it continues, `parent_session_id` the one that spawned it. Its status is
computed from these facts and stored nowhere, so it cannot disagree with them.
"""

from datetime import datetime, timedelta
from typing import Any, Literal

from msgspec import Struct

from ramet.model.record.effort import Outcome

SessionRef = int | str
"""A session's integer id, or `driver:native_id`."""

SessionStatus = Literal[
    "starting",
    "running",
    "waiting_approval",
    "waiting_child",
    "waiting_person",
    "detecting",
    "stuck",
    "orphaned",
    "ended",
]


WaitsFor = Literal["approval", "child", "person", "begin"]
"""What a session may wait for: a person's permission to use a tool; the end of a child; the next word of the person
who started it; or, as a child that was spawned, for its own beginning.
"""

_WAITING: dict[WaitsFor, SessionStatus] = {
    "approval": "waiting_approval",
    "child": "waiting_child",
    "person": "waiting_person",
    "begin": "starting",
}


RefusedSubject = Literal["host", "tool"]


class RefusedCall(Struct, frozen=True, kw_only=True):
    """One row of `refused_calls`: something that an agent wanted and its owner has not allowed."""

    session_id: int
    subject: RefusedSubject
    name: str
    """The host, or the tool."""
    call: str
    """The beginning of what the tool was given."""
    rules: list[str]
    """The permission rules that would allow it; none if no rule can."""
    advice: str
    """What would allow it, in words."""
    times: int
    created_at: datetime


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
    exit_status: int | None
    exit_signal: int | None
    process_started: float | None
    """When the process with this pid started according to the kernel, in seconds since 1970."""
    reported_seq: int
    """The number of the last event that its keeper reported."""
    tools_in_flight: list[str] | None
    """The tool calls without a result."""
    deadline: datetime | None
    """When its attempt times out; None if it has no limit."""
    report: dict[str, Any] | None
    """Its closing report, with the fields of `protocol.history.Report`."""
    host: str | None
    """The machine of its process, if several machines share the database and a person started it."""
    permission_tool: str | None = None
    """The tool for which its program asks a person for permission; None while no dialog is open."""
    model: str | None = None
    """The model of its newest call, if it is known."""
    title: str | None = None
    """Its name in its program: what a person called it, or what the program made up."""
    forked_from_session_id: int | None = None
    """The session of which it is a copy, if it is one."""
    archived_at: datetime | None = None
    """When it was taken out of lists; None if it is listed."""
    purged_at: datetime | None = None
    """When its texts were removed; None if it has them."""


def is_unseen(session: Session) -> bool:
    """Whether nothing has been seen of its agent yet."""
    return session.pid is None and session.native_id is None and session.last_heartbeat is None


class TreePlace(Struct, frozen=True, kw_only=True):
    """Where a new session stands: what it continues, what spawned it, and how deep that is."""

    prev_session_id: int | None = None
    parent_session_id: int | None = None
    root_session_id: int | None = None
    """None for one that is its own root."""
    spawn_depth: int = 0


class Patience(Struct, frozen=True, kw_only=True):
    """How long a session may be silent before it is looked at, and before it is given up."""

    silent: timedelta
    stuck: timedelta | None = None
    """None where nobody would end it."""


LONGEST_NATIVE_ID = 200


def native_name(native_id: str, agent_id: str | None) -> str:
    """By which name a context window goes with its driver; a sub-agent's is inside its parent's."""
    name = native_id if agent_id is None else f"{native_id}/{agent_id}"
    return name.replace("\0", "")[:LONGEST_NATIVE_ID]


def derive_status(
    *,
    ended_at: datetime | None,
    last_heartbeat: datetime | None,
    created_at: datetime,
    now: datetime,
    patience: Patience,
    has_tool_in_flight: bool = False,
    is_lease_over: bool = False,
    waits_for: WaitsFor | None = None,
) -> SessionStatus:
    """What a session is doing, from what is recorded about it. An agent whose tool is at work is not silent, nor is one
    that waits.
    """
    if ended_at is not None:
        return "ended"
    if is_lease_over:
        return "orphaned"
    if waits_for is not None:
        return _WAITING[waits_for]
    if has_tool_in_flight:
        return "running"
    silence = now - (last_heartbeat or created_at)
    if patience.stuck is not None and silence > patience.stuck:
        return "stuck"
    if silence > patience.silent:
        return "detecting"
    return "running" if last_heartbeat else "starting"
