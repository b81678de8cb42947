"""Requests and replies of the operations for each moment of a session. Each one is `hooks.record` under another
name.
"""

from typing import Annotated, Any

from msgspec import Meta, Struct

from ramet.errors import Forbidden, InvalidParams, SessionNotFound
from ramet.model.hooks.hook import Source
from ramet.model.record.agent import Agent
from ramet.model.record.session import Session
from ramet.protocol.fields import Content, DriverName, Name, Path, SessionId, Text
from ramet.protocol.hooks.hooks import HookFacts, Pid
from ramet.protocol.operation import Change, Operation
from ramet.protocol.record.efforts import EffortDetail


class SessionContext(Struct, frozen=True, kw_only=True):
    """A session that starts or continues, its effort, and its context."""

    session: Session
    effort: EffortDetail
    skill_phases: list[str]
    """The labels of the skill's phases, in order. The effort has the current one."""
    required_files: list[str]
    dehydration_payload: dict[str, Any] | None
    """The handoff of the previous session."""
    debriefs: list[str]
    """The paths of the debriefs of the task's earlier efforts."""
    context: str | None
    """The text for the agent: the resume contract, if the session continues another one."""


class HookSessionStart(Change[SessionContext], frozen=True, kw_only=True):
    """Record the start of a context window, and return its session, its effort and the previous session's handoff.

    The context window is identified by its session, or by its driver and native id.
    """

    op = Operation("hooks.sessionStart", errors=(SessionNotFound, Forbidden, InvalidParams), audience="compatibility")

    agent_id: Name | None = None
    pid: Pid | None = None
    session_id: SessionId | None = None
    driver: DriverName | None = None
    native_id: Name | None = None
    cwd: Path | None = None
    source: Source | None = None
    transcript_path: Path | None = None
    facts: HookFacts = HookFacts()


class HookNoted(Struct, frozen=True, kw_only=True):
    """The session of a recorded event; for a sub-agent's event, the sub-agent's session."""

    session_id: int


class HookSessionEnd(Change[HookNoted], frozen=True, kw_only=True):
    """Record the end of a context window."""

    op = Operation("hooks.sessionEnd", errors=(SessionNotFound, Forbidden), ring="own", audience="compatibility")

    session_id: SessionId
    reason: Text | None = None


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether a tool call is allowed."""

    allow: bool
    block: bool
    reason: str | None = None
    injection: str | None = None


class HookPreToolUse(Change[Verdict], frozen=True, kw_only=True):
    """Decide whether a tool call is allowed, by the heartbeat and directive gates."""

    op = Operation("hooks.preToolUse", errors=(SessionNotFound, Forbidden), ring="own", audience="compatibility")

    session_id: SessionId
    tool: Name
    args: Any = None
    tool_use_id: Name | None = None
    facts: HookFacts = HookFacts()


class ToolNoted(Struct, frozen=True, kw_only=True):
    """The texts for an agent after a tool call, and its session."""

    injections: list[str]
    session: Session


class HookPostToolUse(Change[ToolNoted], frozen=True, kw_only=True):
    """Record a tool call: heartbeat, loaded files, discovered directories and directives."""

    op = Operation("hooks.postToolUse", errors=(SessionNotFound, Forbidden), ring="own", audience="compatibility")

    session_id: SessionId
    tool: Name
    result: Any = None
    """Accepted but not stored, because the transcript has it."""
    args: Any = None
    tool_use_id: Name | None = None
    facts: HookFacts = HookFacts()


class HookPostToolUseFailure(Change[HookNoted], frozen=True, kw_only=True):
    """Record a failed tool call."""

    op = Operation(
        "hooks.postToolUseFailure", errors=(SessionNotFound, Forbidden), ring="own", audience="compatibility"
    )

    session_id: SessionId
    tool: Name
    args: Any = None
    tool_use_id: Name | None = None


class PromptNoted(Struct, frozen=True, kw_only=True):
    """A recorded prompt. It is provisional until the transcript has it."""

    session_id: int
    message_id: int | None
    """The newest prompt of the session; None if there is none yet."""
    content: str | None = None
    """The text that the caller has to write: always null."""


class HookUserPrompt(Change[PromptNoted], frozen=True, kw_only=True):
    """Record a person's prompt."""

    op = Operation("hooks.userPrompt", errors=(SessionNotFound, Forbidden), ring="own", audience="compatibility")

    session_id: SessionId
    prompt: Content
    prompt_id: Name | None = None


class HookPreCompact(Change[HookNoted], frozen=True, kw_only=True):
    """Mark the end of a session's context before it is compacted."""

    op = Operation("hooks.preCompact", errors=(SessionNotFound, Forbidden), ring="own", audience="compatibility")

    session_id: SessionId


class HookPermissionRequest(Change[HookNoted], frozen=True, kw_only=True):
    """Record that an agent waits for a permission."""

    op = Operation("hooks.permissionRequest", errors=(SessionNotFound, Forbidden), ring="own", audience="compatibility")

    session_id: SessionId
    tool: Name | None = None
    args: Any = None


class HookNotification(Change[HookNoted], frozen=True, kw_only=True):
    """Record a notification of an agent program to its user."""

    op = Operation("hooks.notification", errors=(SessionNotFound, Forbidden), ring="own", audience="compatibility")

    session_id: SessionId
    text: Content | None = None


class HookStop(Change[HookNoted], frozen=True, kw_only=True):
    """Record that an agent has answered and waits."""

    op = Operation("hooks.stop", errors=(SessionNotFound, Forbidden), ring="own", audience="compatibility")

    session_id: SessionId


class HookSubagentStart(Change[HookNoted], frozen=True, kw_only=True):
    """Record the start of a vendor's own sub-agent as a child session. Its parent's session stays open."""

    op = Operation("hooks.subagentStart", errors=(SessionNotFound, Forbidden), ring="own", audience="compatibility")

    session_id: SessionId
    subagent_id: Name
    subagent_type: Name | None = None


class HookSubagentStop(Change[HookNoted], frozen=True, kw_only=True):
    """Record the end of a vendor's own sub-agent. Its parent continues."""

    op = Operation("hooks.subagentStop", errors=(SessionNotFound, Forbidden), ring="own", audience="compatibility")

    session_id: SessionId
    subagent_id: Name
    summary: Content | None = None


class HookTaskCompleted(Change[HookNoted], frozen=True, kw_only=True):
    """Record that an agent completed an item of its list."""

    op = Operation("hooks.taskCompleted", errors=(SessionNotFound, Forbidden), ring="own", audience="compatibility")

    session_id: SessionId
    text: Content | None = None


class HookTeammateIdle(Change[HookNoted], frozen=True, kw_only=True):
    """Record that a teammate of an agent is idle."""

    op = Operation("hooks.teammateIdle", errors=(SessionNotFound, Forbidden), ring="own", audience="compatibility")

    session_id: SessionId
    text: Content | None = None


class FleetRecruit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One agent of a fleet, and the skills that it claims."""

    id: Name
    label: Text | None = None
    claims: list[Name] | None = None


class Fleet(Struct, frozen=True, kw_only=True):
    """The agents of a fleet, with the efforts that they hold."""

    agents: list[Agent]


class HookFleetStart(Change[Fleet], frozen=True, kw_only=True):
    """Register the agents of a fleet, with the skills that they claim, before their sessions start."""

    op = Operation("hooks.fleetStart", audience="compatibility")

    agents: Annotated[list[FleetRecruit], Meta(min_length=1, max_length=1000)]
