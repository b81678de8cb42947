"""Trees: who spawned whom, what each is doing, and what it cost with all below it.

Parents have lower ids than their children, and a session than what continues it; nearly everything here follows from
that order.
"""

from collections.abc import Callable, Container, Sequence
from datetime import datetime
from typing import Any, Protocol

from msgspec.structs import replace

from ramet.engine.answers import answers
from ramet.engine.history import references
from ramet.engine.record import agents, lookup
from ramet.engine.runs import runs
from ramet.engine.spawn.tree_usage import Linked, find_above, roll_up
from ramet.engine.transaction import Transaction
from ramet.errors import InvalidParams, SessionNotFound
from ramet.model.history.branch import branch_session
from ramet.model.hooks.resume_contract import LiveChild
from ramet.model.instant import from_iso, to_datetime
from ramet.model.record.activity import Activity
from ramet.model.record.session import (
    Session,
    SessionStatus,
    WaitsFor,
    derive_status,
)
from ramet.model.spawn.child import TreeRow
from ramet.protocol.spawn.trees import ListAncestors, ListChildren, Lookup, ShowTree, Trees
from ramet.store.spawn import trees
from ramet.store.spawn.trees import Link, Liveness, Node, Used

_CHARACTERS = 200
"""How much of a goal, and of what a session left, is shown in a tree."""
_NOTHING = Activity(None, None)


@answers(ListChildren)
def list_children(tx: Transaction, request: ListChildren) -> Trees:
    """The sessions that a session spawned."""
    return _list(tx, request, _children)


@answers(ListAncestors)
def list_ancestors(tx: Transaction, request: ListAncestors) -> Trees:
    """From a session's parent up to its root."""
    return _list(tx, request, _ancestors, is_upwards=True)


@answers(ShowTree)
def show(tx: Transaction, request: ShowTree) -> Trees:
    """The whole trees of what is named, or only that and what is below it."""
    return _list(tx, request, _below if request.below else _all)


def list_live_children(tx: Transaction, session: Session) -> list[LiveChild]:
    """The sessions below an effort that have not ended, for a session that continues it. The purpose of a child of the
    same effort is the effort's own.
    """
    found = trees.list_open_children(tx.db, session.effort_id, characters=_CHARACTERS, now=tx.now)
    status = _statuses(tx, ())
    return [
        LiveChild(
            session_id=each.id,
            status=status(each.id, each.created_at, each.liveness),
            goal=each.goal if each.effort_id != session.effort_id else None,
        )
        for each in found
        if each.id != session.id
    ]


class _Choice(Protocol):
    """Those of the sessions of some trees that an operation lists, in its order, by the sessions that are named."""

    def __call__(self, rows: Sequence[Linked], named: set[int], /) -> list[Linked]: ...


def _all(rows: Sequence[Linked], _named: set[int]) -> list[Linked]:
    return list(rows)


def _children(rows: Sequence[Linked], named: set[int]) -> list[Linked]:
    return [row for row in rows if row.parent_session_id in named]


def _ancestors(rows: Sequence[Linked], named: set[int]) -> list[Linked]:
    above: set[int | None] = {row.parent_session_id for row in rows if row.id in named}
    found = []
    for row in reversed(rows):
        if row.id in above:
            above.add(row.parent_session_id)
            found.append(row)
    return found


def _below(rows: Sequence[Linked], named: set[int]) -> list[Linked]:
    """Some sessions, what continues them and what is below."""
    above = find_above(rows)
    kept: set[int | None] = set(named)
    found = []
    for row in rows:
        if row.id in kept or above(row) in kept:
            kept.add(row.id)
            found.append(row)
    return found


def _list(tx: Transaction, request: Lookup[Any], choose: _Choice, *, is_upwards: bool = False) -> Trees:
    """The sessions that an operation lists: all of them, which takes one query, or a page."""
    members = _members(tx, request)
    named, roots = {session_id for session_id, _ in members}, {root for _, root in members}
    if request.limit is not None or request.cursor is not None:
        return _list_page(tx, request, named, roots, choose, is_upwards=is_upwards)
    nodes = trees.list_nodes(tx.db, roots, characters=_CHARACTERS, now=tx.now)
    rows = [node.row for node in nodes]
    used = Used(
        {row.id: row.tokens for row in rows},
        {row.id: row.cost_usd for row in rows},
        {row.id for row in rows if row.is_cost_estimated},
    )
    return Trees(items=choose(_reachable(tx, _finish(tx, nodes, rows, roll_up(rows, used)), named), named))


def _list_page(
    tx: Transaction, request: Lookup[Any], named: set[int], roots: set[int], choose: _Choice, *, is_upwards: bool
) -> Trees:
    """One page. The links of all sessions say what it has and what counts for whom; only its own rows are complete."""
    links = trees.list_links(tx.db, roots)
    found = choose(_reachable(tx, links, named), named)
    if request.cursor is not None:
        root, _, last = request.cursor.partition(".")
        place = (int(root), int(last))
        found = [each for each in found if (_place(each) < place if is_upwards else _place(each) > place)]
    limit = request.limit or len(found)
    page = [each.id for each in found[:limit]]
    if not page:
        return Trees(items=[])
    # What counts for a session has a higher id than the session.
    totals = roll_up(links, trees.find_used(tx.db, roots, first_id=min(page)))
    nodes = trees.list_nodes(tx.db, roots, characters=_CHARACTERS, now=tx.now, only=page)
    rows = {row.id: row for row in _finish(tx, nodes, links, totals)}
    root_id, last_id = _place(found[len(page) - 1])
    return Trees(items=[rows[each] for each in page], next=f"{root_id}.{last_id}" if len(found) > limit else None)


def _place(row: Link) -> tuple[int, int]:
    """Where a session is in the order of a tree. It keeps its place, whatever is spawned meanwhile."""
    return row.root_session_id, row.id


def _reachable(tx: Transaction, rows: list[Linked], named: set[int]) -> list[Linked]:
    """For an agent, what is below its own session."""
    if tx.asker is None:
        return rows
    own = {lookup.session(tx, session_id).effort_id for session_id in (tx.asker, *named)}
    return _below(rows, {row.id for row in rows if row.effort_id in own})


def _members(tx: Transaction, request: Lookup[Any]) -> list[tuple[int, int]]:
    """The sessions that a request names, by the one name that it gives, and their roots."""
    names = (request.session_id, request.effort_id, request.branch, request.task_id, request.run_id)
    if sum(name is not None for name in names) != 1:
        raise InvalidParams(
            "give exactly one of session_id, effort_id, branch, task_id and run_id",
            field="session_id",
            value=names[0],
            fix="keep the one that names what you look for, and leave the others out",
        )
    if request.effort_id is not None:
        return trees.list_members(tx.db, "effort", lookup.effort(tx, request.effort_id).id)
    if request.task_id is not None:
        return trees.list_members(tx.db, "task", lookup.task(tx, request.task_id)[0])
    if request.run_id is not None:
        return trees.list_members(tx.db, "run", runs.find(tx, request.run_id).id)
    ref = request.session_id if request.branch is None else _session_of(tx, request.branch)
    session = lookup.session(tx, ref or 0)
    return [(session.id, session.root_session_id)]


def _session_of(tx: Transaction, branch: str) -> int:
    references.head(tx, branch)
    session_id = branch_session(branch)
    if session_id is None:
        raise SessionNotFound(f"branch {branch!r} does not belong to a session", field="branch", value=branch)
    return session_id


def _finish(tx: Transaction, nodes: Sequence[Node], links: Sequence[Linked], totals: Used) -> list[TreeRow]:
    """The rows of some sessions, with their totals and with what the open ones are doing."""
    open_nodes = [node for node in nodes if node.liveness]
    status = _statuses(tx, agents.list_answered(tx, [node.row.id for node in open_nodes if _is_idle_by_hand(node)]))
    asked = agents.find_first_prompts(tx, [node.row.id for node in nodes if _is_asked_by_person(node.row)])
    activities = agents.find_activities(tx, [node.row.id for node in open_nodes])
    subagents = _find_subagents(links, open_nodes)

    def status_now(row: TreeRow, liveness: Liveness | None) -> SessionStatus:
        if liveness is None:
            return row.status
        return "waiting_person" if _waits_for_its_agent(row, liveness) else status(row.id, row.created_at, liveness)

    def finish(row: TreeRow, liveness: Liveness | None) -> TreeRow:
        doing = activities.get(row.id, _NOTHING)
        # The prompt of a queued effort is what a person wrote; its agent is given more than that.
        is_asked_by_effort = liveness is not None and row.is_queued and row.id not in subagents
        return replace(
            row,
            goal=row.goal or asked.get(row.id),
            status=status_now(row, liveness),
            total_tokens=totals.tokens.get(row.id, 0),
            total_cost_usd=totals.costs_usd.get(row.id),
            is_total_cost_estimated=row.id in totals.estimated,
            prompt=row.goal if is_asked_by_effort else doing.prompt,
            tool=doing.tool,
        )

    tokens, costs = totals.tokens, totals.costs_usd
    # Most rows of a large tree have ended and have nothing below them. They stay as they are: a copy takes its time.
    return [
        row
        if liveness is None
        and row.goal is not None
        and tokens.get(row.id, 0) == row.tokens
        and costs.get(row.id) == row.cost_usd
        else finish(row, liveness)
        for row, liveness in ((node.row, node.liveness) for node in nodes)
    ]


def _is_asked_by_person(row: TreeRow) -> bool:
    """Whether its goal is its first prompt, because no effort has one."""
    return row.goal is None and bool(row.native_id)


def _waits_for_its_agent(row: TreeRow, liveness: Liveness) -> bool:
    """Whether it continues another session, and nobody has started its agent yet: a person has the command for it."""
    is_nobodys = row.agent_id is None and row.native_id is None and row.parent_session_id is None
    return is_nobodys and row.prev_session_id is not None and liveness.last_heartbeat is None


def _find_subagents(rows: Sequence[Linked], nodes: Sequence[Node]) -> set[int]:
    """Those of some sessions that serve their parent's effort: a program's own sub-agents."""
    parents = {node.row.parent_session_id for node in nodes}
    efforts: dict[int | None, int] = {row.id: row.effort_id for row in rows if row.id in parents}
    return {node.row.id for node in nodes if efforts.get(node.row.parent_session_id) == node.row.effort_id}


def _is_idle_by_hand(node: Node) -> bool:
    """Whether a person started it, it is open, and none of its tools is running."""
    row, liveness = node.row, node.liveness
    is_idle = liveness is not None and liveness.is_lease_over is None and not liveness.has_tool_in_flight
    return is_idle and row.native_id is not None and row.parent_session_id is None


def _statuses(tx: Transaction, answered: Container[int]) -> Callable[[int, datetime, Liveness], SessionStatus]:
    """What an open session is doing, in the words of the fleet; who has answered waits for a person."""
    now = to_datetime(tx.now_ms)
    patience = {is_leased: agents.patience(tx, is_leased=is_leased) for is_leased in (False, True)}

    def status(session_id: int, created_at: datetime, liveness: Liveness) -> SessionStatus:
        return derive_status(
            ended_at=None,
            last_heartbeat=None if liveness.last_heartbeat is None else from_iso(liveness.last_heartbeat),
            created_at=created_at,
            now=now,
            patience=patience[liveness.is_lease_over is not None],
            has_tool_in_flight=bool(liveness.has_tool_in_flight),
            is_lease_over=bool(liveness.is_lease_over),
            waits_for=_waits_for(liveness, is_answered=session_id in answered),
        )

    return status


def _waits_for(liveness: Liveness, *, is_answered: bool) -> WaitsFor | None:
    if liveness.is_asking:
        return "approval"
    if liveness.is_waiting:
        return "child"
    if liveness.is_unseen:
        return "begin"
    return "person" if is_answered else None
