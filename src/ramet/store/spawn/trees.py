"""What is remembered of trees of sessions: a whole tree is one query by its root, whatever its size."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from msgspec import Struct

from ramet.model.instant import from_iso
from ramet.model.spawn.child import TreeRow
from ramet.store.database.connection import Connection, Row, to_json
from ramet.store.database.queries import QueryFile

_sql = QueryFile("spawn/trees")

Scope = Literal["effort", "task", "run"]
"""What sessions belong to, and are found by."""


class Liveness(Struct, frozen=True, gc=False):
    """What the status of a session that has not ended follows from."""

    last_heartbeat: str | None
    has_tool_in_flight: bool
    is_lease_over: bool | None
    """None where its effort was not claimed from the queue."""
    is_waiting: bool
    """Whether a child is awaited by it."""
    is_unseen: bool
    """Whether it was spawned, and nothing has been seen of it yet."""
    is_asking: bool
    """Whether a person has to permit a tool of it."""


class Node(Struct, frozen=True, gc=False):
    """A session of a tree, before the tree is known."""

    row: TreeRow
    """As far as its own rows tell it: its totals are what it used itself, and an open session is `starting`."""
    liveness: Liveness | None
    """None of one that has ended."""


class Link(Struct, frozen=True, gc=False):
    """What a session of a tree follows from."""

    id: int
    parent_session_id: int | None
    prev_session_id: int | None
    root_session_id: int
    effort_id: int


class Used(NamedTuple):
    """What some sessions used, by their ids. One that used nothing may be left out."""

    tokens: dict[int, int]
    costs_usd: dict[int, float | None]
    estimated: set[int]
    """Those whose cost is, at least in part, estimated from the price table."""


class OpenChild(Struct, frozen=True, gc=False):
    """A session that has not ended."""

    id: int
    effort_id: int
    goal: str | None
    created_at: datetime
    liveness: Liveness


def list_nodes(
    db: Connection, roots: Iterable[int], *, characters: int, now: str, only: Sequence[int] | None = None
) -> list[Node]:
    """The sessions of some trees, or only some of these, parents before their children; so many characters of what is
    said of each.
    """
    named = None if only is None else to_json(list(only))
    rows = db.all(_sql.of_roots, ids=to_json(sorted(set(roots))), only=named, characters=characters, now=now)
    return [_node(row) for row in rows]


def list_links(db: Connection, roots: Iterable[int]) -> list[Link]:
    """How the sessions of some trees follow from each other, in the order of `list_nodes`."""
    return [Link(*row) for row in db.all(_sql.links_of_roots, ids=to_json(sorted(set(roots))))]


def find_used(db: Connection, roots: Iterable[int], *, first_id: int) -> Used:
    """What each session of some trees used itself, from a session on."""
    rows = db.all(_sql.usage_of_roots, ids=to_json(sorted(set(roots))), first_id=first_id)
    return Used(
        {session_id: tokens for session_id, tokens, _, _ in rows},
        {session_id: cost for session_id, _, cost, _ in rows},
        {session_id for session_id, _, _, is_estimated in rows if is_estimated},
    )


def _node(row: Row) -> Node:
    """A row of the query, column by column: the totals and the status of a row are not stored."""
    *first, heartbeat, tool, lease, waiting, unseen, asking, driver, queued, project_id, title, origin = row
    *identity, outcome, notes, created, ended, used, cost, estimated = first
    tokens = used or 0
    status = "starting" if ended is None else "ended"
    ended_at = None if ended is None else from_iso(ended)
    liveness = Liveness(heartbeat, tool, lease, waiting, unseen, asking) if ended is None else None
    times_and_use = (from_iso(created), ended_at, tokens, cost, tokens, cost)
    marks = (bool(estimated), bool(estimated))
    named = (driver, bool(queued), project_id, None, None, *marks, title, origin)
    shown = (*identity, status, outcome, notes, *times_and_use, *named)
    return Node(TreeRow(*shown), liveness)


def list_open_children(db: Connection, effort_id: int, *, characters: int, now: str) -> list[OpenChild]:
    """The sessions below those of an effort that have not ended."""
    rows = db.all(_sql.open_children, effort_id=effort_id, characters=characters, now=now)
    return [
        OpenChild(session_id, effort_id, goal, from_iso(created_at), Liveness(*facts))
        for session_id, effort_id, goal, created_at, *facts in rows
    ]


def list_members(db: Connection, scope: Scope, name: int | str) -> list[tuple[int, int]]:
    """The sessions that belong to something, and their roots."""
    query = {"effort": _sql.of_effort, "task": _sql.of_task, "run": _sql.of_run}[scope]
    return [(session_id, root_id) for session_id, root_id in db.all(query, name=name)]
