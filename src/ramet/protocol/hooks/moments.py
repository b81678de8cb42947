"""Requests and replies of the operations for each moment of a session; every one is `hooks.record` under another
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
    """A session that begins or goes on: what it serves, and what it needs to know."""

    session: Session
    effort: EffortDetail
    skill_phases: list[str]
    """The labels of the skill's phases, in order; the effort has the current one."""
    required_files: list[str]
    dehydration_payload: dict[str, Any] | None
    """What the session before left."""
    debriefs: list[str]
    """What earlier efforts of the same task left, as paths."""
    context: str | None
    """What the agent is told: the resume contract, where it goes on with something."""


class HookSessionStart(Change[SessionContext], frozen=True, kw_only=True):
    """A context window opens: its session, its effort, what it needs, and what the one before left.

    A context window opens. It is known by its session, or by its driver and native id.
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
    """An event that was written down; of a sub-agent's, its own session."""

    session_id: int


class HookSessionEnd(Change[HookNoted], frozen=True, kw_only=True):
    """A context window closes."""

    op = Operation("hooks.sessionEnd", errors=(SessionNotFound, Forbidden), scope="session", audience="compatibility")

    session_id: SessionId
    reason: Text | None = None


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether a tool may be used."""

    allow: bool
    block: bool
    reason: str | None = None
    injection: str | None = None


class HookPreToolUse(Change[Verdict], frozen=True, kw_only=True):
    """A tool is about to be used: the heartbeat and directive gates."""

    op = Operation("hooks.preToolUse", errors=(SessionNotFound, Forbidden), scope="session", audience="compatibility")

    session_id: SessionId
    tool: Name
    args: Any = None
    tool_use_id: Name | None = None
    facts: HookFacts = HookFacts()


class ToolNoted(Struct, frozen=True, kw_only=True):
    """What an agent is told after a tool, and what is known of its session now."""

    injections: list[str]
    session: Session


class HookPostToolUse(Change[ToolNoted], frozen=True, kw_only=True):
    """A tool was used: heartbeat, loaded files, discovered directories and directives."""

    op = Operation("hooks.postToolUse", errors=(SessionNotFound, Forbidden), scope="session", audience="compatibility")

    session_id: SessionId
    tool: Name
    result: Any = None
    """Accepted, and not kept: the transcript has it."""
    args: Any = None
    tool_use_id: Name | None = None
    facts: HookFacts = HookFacts()


class HookPostToolUseFailure(Change[HookNoted], frozen=True, kw_only=True):
    """A tool failed."""

    op = Operation(
        "hooks.postToolUseFailure", errors=(SessionNotFound, Forbidden), scope="session", audience="compatibility"
    )

    session_id: SessionId
    tool: Name
    args: Any = None
    tool_use_id: Name | None = None


class PromptNoted(Struct, frozen=True, kw_only=True):
    """A prompt in its place: provisional until the transcript has it."""

    session_id: int
    message_id: int | None
    """The newest prompt of the session; None where nobody said anything yet."""
    content: str | None = None
    """What the caller has to write for it: nothing."""


class HookUserPrompt(Change[PromptNoted], frozen=True, kw_only=True):
    """A person said something."""

    op = Operation("hooks.userPrompt", errors=(SessionNotFound, Forbidden), scope="session", audience="compatibility")

    session_id: SessionId
    prompt: Content
    prompt_id: Name | None = None


class HookPreCompact(Change[HookNoted], frozen=True, kw_only=True):
    """A context is about to be compacted: mark where it is whole."""

    op = Operation("hooks.preCompact", errors=(SessionNotFound, Forbidden), scope="session", audience="compatibility")

    session_id: SessionId


class HookPermissionRequest(Change[HookNoted], frozen=True, kw_only=True):
    """An agent waits for somebody's leave."""

    op = Operation(
        "hooks.permissionRequest", errors=(SessionNotFound, Forbidden), scope="session", audience="compatibility"
    )

    session_id: SessionId
    tool: Name | None = None
    args: Any = None


class HookNotification(Change[HookNoted], frozen=True, kw_only=True):
    """A program has something to tell its user."""

    op = Operation("hooks.notification", errors=(SessionNotFound, Forbidden), scope="session", audience="compatibility")

    session_id: SessionId
    text: Content | None = None


class HookStop(Change[HookNoted], frozen=True, kw_only=True):
    """An agent has answered and waits."""

    op = Operation("hooks.stop", errors=(SessionNotFound, Forbidden), scope="session", audience="compatibility")

    session_id: SessionId


class HookSubagentStart(Change[HookNoted], frozen=True, kw_only=True):
    """A vendor's own sub-agent begins: a child session.

    A vendor's own sub-agent begins: a child session, which ends nothing.
    """

    op = Operation(
        "hooks.subagentStart", errors=(SessionNotFound, Forbidden), scope="session", audience="compatibility"
    )

    session_id: SessionId
    subagent_id: Name
    subagent_type: Name | None = None


class HookSubagentStop(Change[HookNoted], frozen=True, kw_only=True):
    """A vendor's own sub-agent is done; its parent goes on."""

    op = Operation("hooks.subagentStop", errors=(SessionNotFound, Forbidden), scope="session", audience="compatibility")

    session_id: SessionId
    subagent_id: Name
    summary: Content | None = None


class HookTaskCompleted(Change[HookNoted], frozen=True, kw_only=True):
    """An agent ticked something off its list."""

    op = Operation(
        "hooks.taskCompleted", errors=(SessionNotFound, Forbidden), scope="session", audience="compatibility"
    )

    session_id: SessionId
    text: Content | None = None


class HookTeammateIdle(Change[HookNoted], frozen=True, kw_only=True):
    """A teammate of an agent has nothing to do."""

    op = Operation("hooks.teammateIdle", errors=(SessionNotFound, Forbidden), scope="session", audience="compatibility")

    session_id: SessionId
    text: Content | None = None


class FleetRecruit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One agent of a fleet, and the skills that it takes."""

    id: Name
    label: Text | None = None
    claims: list[Name] | None = None


class Fleet(Struct, frozen=True, kw_only=True):
    """The agents of a fleet with the efforts that they hold."""

    agents: list[Agent]


class HookFleetStart(Change[Fleet], frozen=True, kw_only=True):
    """A fleet begins: register its agents with what they claim.

    A fleet begins: its agents are known before their sessions are.
    """

    op = Operation("hooks.fleetStart", audience="compatibility")

    agents: Annotated[list[FleetRecruit], Meta(min_length=1, max_length=1000)]
