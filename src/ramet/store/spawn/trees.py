"""What is remembered of trees of sessions: a whole tree is one query by its root, whatever its size."""

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

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


class OpenChild(Struct, frozen=True, gc=False):
    """A session that has not ended."""

    id: int
    effort_id: int
    goal: str | None
    created_at: datetime
    liveness: Liveness


def list_nodes(db: Connection, roots: Iterable[int], *, characters: int, now: str) -> list[Node]:
    """The sessions of some trees, parents before their children; of what is said of each, so many characters."""
    rows = db.all(_sql.of_roots, ids=to_json(sorted(set(roots))), characters=characters, now=now)
    return [_node(row) for row in rows]


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
