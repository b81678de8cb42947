"""The requests and replies of spawning: children, their results, their trees and their budgets."""

from typing import Annotated, Any

from msgspec import Meta, Struct, field

from ramet.model.spawn.child import BudgetState, SpawnResult, TreeRow
from ramet.protocol.history import Filter, Inheritance, Report
from ramet.protocol.requests import Change, Content, Id, Name, Path, Request, SessionId, Text
from ramet.protocol.work import DriverName, TimeoutSeconds

Goal = Annotated[Content, Meta(min_length=1)]
ToolName = Annotated[str, Meta(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,199}$")]
"""A tool's name and nothing more: what a program would read as a rule or as a list is none."""
Tokens = Annotated[int, Meta(ge=1, le=2**53)]
Cost = Annotated[float, Meta(gt=0, le=1e12)]


class ChildLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a child may use; what is not said it inherits from its parent."""

    seconds: TimeoutSeconds | None = None
    tokens: Tokens | None = None
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
    Change,
    frozen=True,
    kw_only=True,
    rename={"workflow_id": "workflowId", "workspace_path": "workspacePath", "allowed_tools": "allowedTools"},
):
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


class SpawnAgents(Change, frozen=True, kw_only=True):
    agents: Annotated[list[ChildOrder], Meta(min_length=1)]
    parent_session_id: SessionId | None = None
    wait: bool = False
    timeout_seconds: TimeoutSeconds | None = None


class AwaitChildren(Request, frozen=True, kw_only=True):
    """Answered by a daemon, when all of them have ended or the time is over."""

    session_ids: Annotated[list[Id], Meta(min_length=1, max_length=1000)]
    timeout_seconds: TimeoutSeconds | None = None


class ExpectChildren(Change, frozen=True, kw_only=True):
    """Note that a parent waits for children, or does no more: what waits in the queue then is run in its slot."""

    session_ids: Annotated[list[Id], Meta(min_length=1, max_length=1000)]
    is_expected: bool = True


class TendChildren(Change, frozen=True, kw_only=True):
    """Find what waits for somebody who is not there any more."""

    is_starting: bool = False
    """Asked by a daemon that starts: nobody waits through it yet."""
    host: Name | None = None
    """Where several daemons share a database: whose workers are meant."""


class ListStranded(Request, frozen=True, kw_only=True):
    """What `TendChildren` with the same parameters would find."""

    is_starting: bool = False
    host: Name | None = None


class ListResults(Request, frozen=True, kw_only=True):
    session_ids: Annotated[list[Id], Meta(min_length=1, max_length=1000)]


class ReportSession(Change, frozen=True, kw_only=True):
    """What a session reports at its end: its parent receives it."""

    report: Report
    session_id: SessionId | None = None
    """Default: the session of the connection's token."""


class CancelSpawn(Change, frozen=True, kw_only=True):
    session_id: SessionId
    children: bool = True
    """Whether all below it are ended too."""
    reason: Text | None = None


class CollapseSession(Change, frozen=True, kw_only=True):
    session_id: SessionId
    text: Content | None = None
    target_tokens: Annotated[int, Meta(ge=1)] | None = None
    auto_commit: bool = True


class Lookup(Request, frozen=True, kw_only=True):
    """A session, by any of its names; exactly one."""

    session_id: SessionId | None = None
    effort_id: Id | None = None
    branch: Name | None = None
    task_id: Path | None = None
    run_id: Id | None = None


class ListChildren(Lookup, frozen=True, kw_only=True):
    pass


class ListAncestors(Lookup, frozen=True, kw_only=True):
    pass


class ShowTree(Lookup, frozen=True, kw_only=True):
    """The whole tree that it belongs to; with `below`, only itself and what is below it."""

    below: bool = False


class GetBudget(Request, frozen=True, kw_only=True):
    session_id: SessionId


class SetBudget(Change, frozen=True, kw_only=True):
    """Both bounds are set as given; None takes one away."""

    session_id: SessionId
    tokens: Tokens | None = None
    cost_usd: Cost | None = None


# The replies.


class Results(Struct, frozen=True, kw_only=True):
    """What came of children, in the order in which they were named."""

    results: list[SpawnResult]


class Expected(Struct, frozen=True, kw_only=True):
    """The efforts of the children that are not finished: whoever lends them a slot claims them by these."""

    effort_ids: list[int]


class Stranded(Struct, frozen=True, kw_only=True):
    """The efforts of children that wait for somebody who is not there."""

    effort_ids: list[int]


class Tended(Struct, frozen=True, kw_only=True):
    """The efforts of children that nobody waited for."""

    dropped: list[int]
    """Never begun, and their parents are over."""
    released: list[int]
    """The queue has them now."""


class Trees(Struct, frozen=True, kw_only=True):
    """The sessions of one or several trees: parents before their children, siblings in the order of their spawns."""

    items: list[TreeRow]


class BudgetReply(Struct, frozen=True, kw_only=True):
    """A session's own budget, if it has one, and those above it that bind it too."""

    session_id: int
    root_session_id: int
    own: BudgetState | None
    above: list[BudgetState] = field(default_factory=list)
    tokens: int
    """What it and all below it have used."""
    cost_usd: float
