"""Requests and replies about child sessions and their results."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from ramet.errors import (
    BudgetExceeded,
    Forbidden,
    PathOutside,
    SessionEnded,
    SessionNotFound,
    SkillFileInvalid,
    SpawnDepthExceeded,
    SpawnError,
    SpawnLimitExceeded,
    SpawnTimeTooShort,
    UnknownSkill,
    UnmeasurableBound,
)
from ramet.model.record.skill import WITHOUT_FILE
from ramet.model.spawn.child import SpawnResult
from ramet.protocol.fields import Content, DriverName, Id, Name, Path, SessionId, TimeoutSeconds
from ramet.protocol.history.child_branches import CollapseReply, Report
from ramet.protocol.history.inheritance import Filter, Inheritance
from ramet.protocol.operation import Change, Operation, Request
from ramet.protocol.record.budgets import Cost, TokenLimit

Goal = Annotated[Content, Meta(min_length=1)]

ToolName = Annotated[str, Meta(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,199}$")]
"""A tool's name alone, without anything that a program would read as a rule or as a list."""


class ChildLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a child may use. A limit that is not given is inherited from the parent."""

    seconds: TimeoutSeconds | None = None
    tokens: TokenLimit | None = None
    cost_usd: Cost | None = None


class ChildOrder(
    Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename={"workflow_id": "workflowId", "workspace_path": "workspacePath", "allowed_tools": "allowedTools"},
):
    """One child to spawn, with the field names of the first design of `spawn_agent`."""

    goal: Goal
    workflow_id: Name | None = None
    """The skill (default: none, the child gets only the goal)."""
    workspace_path: Path | None = None
    """The child's directory, inside the project or its parent's worktree (default: the parent's directory)."""
    context: dict[str, Any] | None = None
    """Data for the child in addition to the goal. Nothing in it changes depth, parent or limits."""
    inherit: Inheritance | None = None
    """How much of the parent's history the child starts with (default: none)."""
    filter: Filter | None = None
    """What a child with `inherit: selective` starts with: commits by type, by tag, or the last turns."""
    driver: DriverName | None = None
    model: Name | None = None
    limits: ChildLimits | None = None
    allowed_tools: list[ToolName] | None = None
    """The only tools that the child may use. Refused if the driver cannot enforce it."""


class SpawnAgent(
    Change[SpawnResult],
    frozen=True,
    kw_only=True,
    rename={"workflow_id": "workflowId", "workspace_path": "workspacePath", "allowed_tools": "allowedTools"},
):
    """Spawn a child session with a goal; with `wait`, return its result."""

    op = Operation(
        "spawn.agent",
        errors=(
            SpawnDepthExceeded,
            SpawnLimitExceeded,
            SpawnTimeTooShort,
            BudgetExceeded,
            UnmeasurableBound,
            SessionNotFound,
            SessionEnded,
            Forbidden,
            UnknownSkill,
            SkillFileInvalid,
            PathOutside,
            SpawnError,
        ),
        ring="own",
    )

    goal: Goal
    parent_session_id: SessionId | None = None
    """The session (default: the session of the connection's token)."""
    workflow_id: Name | None = None
    workspace_path: Path | None = None
    context: dict[str, Any] | None = None
    inherit: Inheritance | None = None
    filter: Filter | None = None
    driver: DriverName | None = None
    model: Name | None = None
    limits: ChildLimits | None = None
    allowed_tools: list[ToolName] | None = None
    wait: bool = False
    """Whether to return only when the child has ended. Otherwise the child is detached and runs from the queue."""
    timeout_seconds: TimeoutSeconds | None = None
    """How long to wait, in seconds. After that the reply has the child's progress, and the child keeps running."""

    def skill_names(self) -> frozenset[str]:
        return frozenset({self.workflow_id} if self.workflow_id else ()) - WITHOUT_FILE

    def reads_first(self) -> bool:
        return True


class Results(Struct, frozen=True, kw_only=True):
    """The results of children, in the order of the request."""

    results: list[SpawnResult]


class SpawnAgents(Change[Results], frozen=True, kw_only=True):
    """Spawn up to ten children at once. Results are in the order of the request, and refusals are returned as data."""

    op = Operation(
        "spawn.agents",
        errors=(
            *(SpawnLimitExceeded, SessionNotFound, SessionEnded, Forbidden),
            *(BudgetExceeded, UnmeasurableBound),
        ),
        ring="own",
    )

    agents: Annotated[list[ChildOrder], Meta(min_length=1)]
    parent_session_id: SessionId | None = None
    wait: bool = False
    timeout_seconds: TimeoutSeconds | None = None

    def skill_names(self) -> frozenset[str]:
        return frozenset(each.workflow_id for each in self.agents if each.workflow_id) - WITHOUT_FILE

    def reads_first(self) -> bool:
        return True


class AwaitChildren(Request[Results], frozen=True, kw_only=True):
    """Wait for children to end, for a given time at most. Meanwhile they run in the parent's slot."""

    op = Operation("spawn.wait", errors=(SessionNotFound, Forbidden), host="daemon", ring="own")

    session_ids: Annotated[list[Id], Meta(min_length=1, max_length=1000)]
    timeout_seconds: TimeoutSeconds | None = None


class ListResults(Request[Results], frozen=True, kw_only=True):
    """List the results of children so far."""

    op = Operation("spawn.results", errors=(SessionNotFound, Forbidden), ring="own")

    session_ids: Annotated[list[Id], Meta(min_length=1, max_length=1000)]


class ReportSession(Change[SpawnResult], frozen=True, kw_only=True):
    """Record a session's closing report, which its parent receives."""

    op = Operation("spawn.report", errors=(SessionNotFound, Forbidden, SessionEnded), ring="own")

    report: Report
    session_id: SessionId | None = None
    """The session (default: the session of the connection's token)."""


class CollapseSession(Change[CollapseReply], frozen=True, kw_only=True):
    """Fold a child session's work into its parent's history."""

    op = Operation("spawn.collapse", errors=(SessionNotFound, Forbidden, SpawnError))

    session_id: SessionId
    text: Content | None = None
    target_tokens: Annotated[int, Meta(ge=1)] | None = None
    auto_commit: bool = True
