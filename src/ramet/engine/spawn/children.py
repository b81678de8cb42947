"""Spawning: the one path by which a session gets a child, from every caller.

Everything that could refuse a child is checked first, starting with its depth; then all of it is written in one
transaction, before any process starts. So a child that dies before its first turn is on record, with its parent; and a
refused child leaves nothing.
"""

from typing import Any

import msgspec

from ramet.engine.answers import answers
from ramet.engine.history import child_branches, commits, references
from ramet.engine.history.commits import Kind
from ramet.engine.record import (
    budgets,
    lookup,
    sessions,
    skills,
)
from ramet.engine.spawn import confinement, results
from ramet.engine.transaction import Transaction
from ramet.errors import (
    InvalidParams,
    PathOutside,
    RametError,
    SessionEnded,
    SpawnDepthExceeded,
    SpawnLimitExceeded,
    SpawnTimeTooShort,
)
from ramet.model.instant import from_datetime
from ramet.model.record.effort import Effort
from ramet.model.record.project import place_inside
from ramet.model.record.session import Session, SessionRef
from ramet.model.spawn.child import (
    MOST_AT_ONCE,
    TOO_DEEP,
    SpawnResult,
    refused,
)
from ramet.protocol.history.child_branches import Collapse as CollapseBranch
from ramet.protocol.history.child_branches import CollapseReply, Spawn
from ramet.protocol.spawn.children import (
    ChildLimits,
    ChildOrder,
    CollapseSession,
    ListResults,
    ReportSession,
    Results,
    SpawnAgent,
    SpawnAgents,
)
from ramet.store.record import efforts
from ramet.store.record import sessions as session_rows
from ramet.store.record.sessions import NewSession
from ramet.store.spawn import children
from ramet.store.work import queue
from ramet.store.work.queue import NewWork

_GOAL = Kind(content_type="instruction", role="system")
_WITHOUT_SKILL = "do"
_LONGEST_PURPOSE = 200

Order = ChildOrder | SpawnAgent
"""What is said of a child: in a call of its own, or as one of several."""


@answers(SpawnAgent)
def spawn_agent(tx: Transaction, request: SpawnAgent) -> SpawnResult:
    """A child with a goal. With `wait` its parent runs it; waiting for its end is done elsewhere."""
    return spawn(tx, request, _parent(tx, request), is_awaited=request.wait)


@answers(SpawnAgents)
def spawn_agents(tx: Transaction, request: SpawnAgents) -> Results:
    """Several children. A child that is refused has the refusal as its result; the others are spawned."""
    if len(request.agents) > MOST_AT_ONCE:
        raise SpawnLimitExceeded(
            f"{len(request.agents)} children are too many for one request",
            field="agents",
            value=len(request.agents),
            fix=f"spawn at most {MOST_AT_ONCE} children at once",
        )
    parent = _parent(tx, request)
    _require_open(parent)
    return Results(results=[_try(tx, order, parent, is_awaited=request.wait) for order in request.agents])


def _try(tx: Transaction, order: Order, parent: Session, *, is_awaited: bool) -> SpawnResult:
    try:
        return spawn(tx, order, parent, is_awaited=is_awaited)
    except RametError as error:
        return refused(error)


def spawn(tx: Transaction, order: Order, parent: Session, *, is_awaited: bool) -> SpawnResult:
    """The child that a session asks for, or a typed error. Everything is checked before anything is written."""
    _require_depth(tx, parent)
    _require_open(parent)
    work = _new_work(tx, order, parent, is_awaited=is_awaited)
    if order.inherit == "selective":
        child_branches.require_filter(order.filter)
    _require_width(tx, parent)
    work = msgspec.structs.replace(work, timeout_seconds=_seconds(tx, order, parent, is_awaited=is_awaited))
    limits = order.limits or ChildLimits()
    budgets.require_room(tx, parent, limits)
    skills.apply(tx, efforts.project_of(tx.db, parent.effort_id), work.skill)
    effort_id = queue.add(tx.db, work, tx.now)
    session = _begin_history(tx, order, parent, effort_id)
    budgets.reserve(tx, session.id, limits)
    effort = efforts.must_find(tx.db, effort_id)
    _record(tx, effort, session)
    return results.describe(tx, session, effort)


def _parent(tx: Transaction, request: SpawnAgent | SpawnAgents) -> Session:
    return _own(tx, request.parent_session_id, "parent_session_id")


def _own(tx: Transaction, given: SessionRef | None, field: str) -> Session:
    """The session that is named, else the asker's."""
    ref = tx.asker if given is None else given
    if ref is None:
        raise InvalidParams(
            f"{field} is missing", field=field, fix="name the session; only an agent's own connection has a default"
        )
    return lookup.session(tx, ref, field)


def _require_depth(tx: Transaction, parent: Session) -> None:
    if parent.spawn_depth >= tx.spawn.depth:
        raise SpawnDepthExceeded(
            f"{TOO_DEEP}: session {parent.id} is at depth {parent.spawn_depth}, and the limit is {tx.spawn.depth}",
            field="parent_session_id",
            value=parent.id,
        )


def _require_open(parent: Session) -> None:
    if parent.ended_at is not None:
        raise SessionEnded(f"session {parent.id} has ended", field="parent_session_id", value=parent.id)


def _new_work(tx: Transaction, order: Order, parent: Session, *, is_awaited: bool) -> NewWork:
    """The child's effort: the next of its parent's task."""
    if not order.goal.strip():
        raise InvalidParams(
            "the goal is blank", field="goal", value=order.goal, fix="say what the child should achieve"
        )
    above = lookup.effort(tx, parent.effort_id)
    project_id = efforts.project_of(tx.db, above.id)
    skill = order.workflow_id or _WITHOUT_SKILL
    skills.require(tx, project_id, skill)
    driver = confinement.choose_driver(tx, order, parent, above)
    return NewWork(
        task_id=parent.task_id,
        ordinal=efforts.next_ordinal(tx.db, parent.task_id),
        skill=skill,
        prompt=order.goal,
        metadata={"spawn": _said(order, confinement.choose_tools(order, above))},
        depends_on=[],
        driver=driver,
        model=order.model,
        priority=above.priority,
        spawned_by=parent.id,
        awaited_by=parent.id if is_awaited else None,
        workspace=_workspace(tx, order, above, project_id),
    )


def _said(order: Order, allowed_tools: list[str] | None) -> dict[str, Any]:
    """What the runner of the child has to know beside its goal. It is data, and is not checked here again."""
    said = {"context": order.context, "inherit": order.inherit, "allowed_tools": allowed_tools}
    return {name: value for name, value in said.items() if value is not None}


def _workspace(tx: Transaction, order: Order, above: Effort, project_id: int) -> str | None:
    """Where the child works: where its parent does, or inside that or the project. Only the path's text is checked
    here; the links on the way are checked when it is used.
    """
    workspace, worktree = above.place.workspace, above.place.worktree
    home = workspace or worktree
    if order.workspace_path is None:
        return home
    project = lookup.project(tx, project_id)
    roots = [project.path, *project.hosts.values(), *(each for each in (workspace, worktree) if each)]
    path = place_inside(order.workspace_path, home or project.path, roots)
    if path is None:
        raise PathOutside(
            f"{order.workspace_path} is outside the project and outside its parent's worktree",
            field="workspacePath",
            value=order.workspace_path,
        )
    return path


def _require_width(tx: Transaction, parent: Session) -> None:
    width, bounds = children.measure(tx.db, parent.id, parent.root_session_id), tx.spawn
    if width.children >= bounds.children:
        reached = f"session {parent.id} has spawned {width.children} children; spawn.children is {bounds.children}"
    elif width.total >= bounds.total:
        reached = f"{width.total} sessions were spawned in this tree; spawn.total is {bounds.total}"
    elif bounds.concurrent and width.unfinished >= bounds.concurrent:
        reached = f"{width.unfinished} sessions of this tree are unfinished; spawn.concurrent is {bounds.concurrent}"
    else:
        return
    raise SpawnLimitExceeded(reached, field="parent_session_id", value=parent.id)


def _seconds(tx: Transaction, order: Order, parent: Session, *, is_awaited: bool) -> int | None:
    """How long the child may take. One that its parent waits for has to be over before the parent is."""
    wanted = order.limits.seconds if order.limits else None
    if parent.deadline is None or not is_awaited:
        return wanted
    left = (from_datetime(parent.deadline) - tx.now_ms) // 1000
    if left < 1 or (wanted is not None and wanted > left):
        raise SpawnTimeTooShort(
            f"session {parent.id} has {max(left, 0)} seconds left, too few for the child",
            field="limits.seconds",
            value=wanted,
        )
    return wanted or min(left, tx.work.timeout_seconds or left)


def _begin_history(tx: Transaction, order: Order, parent: Session, effort_id: int) -> Session:
    """The child's session and its branch: what it inherits, then its goal. The parent's history says that it is
    there.
    """
    before = references.place(tx, parent.branch, "parent_session_id")
    is_clone = order.inherit == "full_clone" and before is not None
    new = NewSession(
        task_id=parent.task_id,
        effort_id=effort_id,
        place=sessions.place_in_tree(None, parent),
        begins_at=before.commit_id if is_clone and before else None,
    )
    session = session_rows.start(tx.db, new, now=tx.now, now_ms=tx.now_ms)
    spawned = Spawn(
        parent=parent.branch,
        child=session.branch,
        purpose=" ".join(order.goal.split())[:_LONGEST_PURPOSE],
        inherit=order.inherit or "none",
        filter=order.filter,
        # More than this is never in the child's prompt.
        max_tokens=tx.work.prompt_max_tokens,
    )
    if order.inherit in ("head_snapshot", "selective"):
        child_branches.inherit(tx, spawned, before)
    commits.add(tx, references.head(tx, session.branch), tx.contents.prepare(order.goal), _GOAL)
    child_branches.link(tx, spawned, before, parent_session_id=parent.id, child_session_id=session.id)
    return session


def _record(tx: Transaction, effort: Effort, session: Session) -> None:
    scope: dict[str, Any] = {"task_id": effort.task_id, "effort_id": effort.id}
    data = {"skill": effort.skill, "ordinal": effort.ordinal, "awaited_by": effort.spawn.awaited_by}
    tx.record("effort.queued", **scope, data=data)
    data = {"parent_session_id": session.parent_session_id, "spawn_depth": session.spawn_depth}
    tx.record("session.spawned", **scope, session_id=session.id, data=data)
    tx.record("session.started", **scope, session_id=session.id, data=data)


@answers(ListResults)
def list_results(tx: Transaction, request: ListResults) -> Results:
    """What came of children so far, in the order in which they are named."""
    return Results(results=[_result(tx, session_id) for session_id in request.session_ids])


def _result(tx: Transaction, session_id: int) -> SpawnResult:
    session = lookup.session(tx, session_id, "session_ids")
    return results.describe(tx, session, lookup.effort(tx, session.effort_id))


@answers(ReportSession)
def report(tx: Transaction, request: ReportSession) -> SpawnResult:
    """Keep what a session reports at its end. The same again changes nothing; another report replaces it."""
    session = _own(tx, request.session_id, "session_id")
    if session.ended_at is not None:
        raise SessionEnded(f"session {session.id} has ended", field="session_id", value=session.id)
    if session.report != msgspec.to_builtins(request.report):
        session_rows.set_report(tx.db, session.id, request.report)
        scope: dict[str, Any] = {"task_id": session.task_id, "effort_id": session.effort_id}
        tx.record("session.concluded", **scope, session_id=session.id)
    return results.describe(tx, session, lookup.effort(tx, session.effort_id))


@answers(CollapseSession)
def collapse(tx: Transaction, request: CollapseSession) -> CollapseReply:
    """Fold what a child has done so far into its parent's history: a text, else its report."""
    session = lookup.session(tx, request.session_id)
    wanted = CollapseBranch(
        child=session.branch,
        text=request.text,
        report=children.find_report(tx.db, session.effort_id),
        target_tokens=request.target_tokens,
        auto_commit=request.auto_commit,
    )
    done = child_branches.collapse(tx, wanted)
    if request.auto_commit:
        results.record_collapse(tx, session, done)
    return done
