"""Requests and replies about child sessions and their results."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from ramet.errors import (
    BudgetExceeded,
    Forbidden,
    PathOutside,
    SessionEnded,
    SessionNotFound,
    SpawnDepthExceeded,
    SpawnError,
    SpawnLimitExceeded,
    SpawnTimeTooShort,
    UnknownSkill,
)
from ramet.model.spawn.child import SpawnResult
from ramet.protocol.fields import Content, DriverName, Id, Name, Path, SessionId, TimeoutSeconds
from ramet.protocol.history.child_branches import CollapseReply, Inheritance, Report
from ramet.protocol.history.contexts import Filter
from ramet.protocol.operation import Change, Operation, Request
from ramet.protocol.record.budgets import Cost, TokenLimit

Goal = Annotated[Content, Meta(min_length=1)]

ToolName = Annotated[str, Meta(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,199}$")]
"""A tool's name and nothing more: what a program would read as a rule or as a list is none."""


class ChildLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a child may use; what is not said it inherits from its parent."""

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
    """One child to be spawned, as the first design of `spawn_agent` spells it."""

    goal: Goal
    workflow_id: Name | None = None
    """The skill. Without one the goal stands alone."""
    workspace_path: Path | None = None
    """Where it works: inside the project, or inside its parent's worktree. Default: where its parent does."""
    context: dict[str, Any] | None = None
    """What it is told beside the goal. Data: nothing in it changes depth, parent or limits."""
    inherit: Inheritance | None = None
    """How much of the parent's history it begins with. Default: nothing but its instructions."""
    filter: Filter | None = None
    driver: DriverName | None = None
    model: Name | None = None
    limits: ChildLimits | None = None
    allowed_tools: list[ToolName] | None = None
    """Only these tools, where the driver can see to that; refused where it cannot."""


class SpawnAgent(
    Change[SpawnResult],
    frozen=True,
    kw_only=True,
    rename={"workflow_id": "workflowId", "workspace_path": "workspacePath", "allowed_tools": "allowedTools"},
):
    """Spawn a child session with a goal; with `wait`, answer with its result."""

    op = Operation(
        "spawn.agent",
        errors=(
            SpawnDepthExceeded,
            SpawnLimitExceeded,
            SpawnTimeTooShort,
            BudgetExceeded,
            SessionNotFound,
            SessionEnded,
            Forbidden,
            UnknownSkill,
            PathOutside,
            SpawnError,
        ),
        scope="session",
    )

    goal: Goal
    parent_session_id: SessionId | None = None
    """Default: the session of the connection's token."""
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
    """Answer when the child has ended. Without it the child is detached: it goes through the queue."""
    timeout_seconds: TimeoutSeconds | None = None
    """How long to wait; after that the answer says how far the child is, and the child goes on."""


class Results(Struct, frozen=True, kw_only=True):
    """What came of children, in the order in which they were named."""

    results: list[SpawnResult]


class SpawnAgents(Change[Results], frozen=True, kw_only=True):
    """Spawn up to ten children at once; results in the order of the request, each refusal as data."""

    op = Operation(
        "spawn.agents", errors=(SpawnLimitExceeded, SessionNotFound, SessionEnded, Forbidden), scope="session"
    )

    agents: Annotated[list[ChildOrder], Meta(min_length=1)]
    parent_session_id: SessionId | None = None
    wait: bool = False
    timeout_seconds: TimeoutSeconds | None = None


class AwaitChildren(Request[Results], frozen=True, kw_only=True):
    """Wait for children, and lend them the parent's slot meanwhile.

    Answered by a daemon, when all of them have ended or the time is over.
    """

    op = Operation("spawn.wait", errors=(SessionNotFound, Forbidden), host="daemon", scope="session")

    session_ids: Annotated[list[Id], Meta(min_length=1, max_length=1000)]
    timeout_seconds: TimeoutSeconds | None = None


class ListResults(Request[Results], frozen=True, kw_only=True):
    """What came of children so far."""

    op = Operation("spawn.results", errors=(SessionNotFound, Forbidden), scope="session")

    session_ids: Annotated[list[Id], Meta(min_length=1, max_length=1000)]


class ReportSession(Change[SpawnResult], frozen=True, kw_only=True):
    """Leave a session's closing report, which its parent receives.

    What a session reports at its end: its parent receives it.
    """

    op = Operation("spawn.report", errors=(SessionNotFound, Forbidden, SessionEnded), scope="session")

    report: Report
    session_id: SessionId | None = None
    """Default: the session of the connection's token."""


class CollapseSession(Change[CollapseReply], frozen=True, kw_only=True):
    """Fold what a child session did into its parent's history."""

    op = Operation("spawn.collapse", errors=(SessionNotFound, Forbidden, SpawnError))

    session_id: SessionId
    text: Content | None = None
    target_tokens: Annotated[int, Meta(ge=1)] | None = None
    auto_commit: bool = True
