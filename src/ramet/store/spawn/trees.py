"""What is remembered of trees of sessions: a whole tree is one query by its root, whatever its size."""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from ramet.model.record.effort import Outcome
from ramet.store.database.connection import Connection, to_json
from ramet.store.database.queries import QueryFile

_sql = QueryFile("spawn/trees")

Scope = Literal["effort", "task", "run"]
"""What sessions belong to, and are found by."""


class Node(Struct, frozen=True, gc=False):
    """A session in its tree, as it is stored: one row of the query, column by column."""

    id: int
    parent_session_id: int | None
    prev_session_id: int | None
    root_session_id: int
    spawn_depth: int
    task_id: str
    effort_id: int
    skill: str
    agent_id: str | None
    driver: str | None
    native_id: str | None
    branch: str
    goal: str | None
    outcome: Outcome | None
    notes: str | None
    created_at: str
    ended_at: str | None
    tokens: int | None
    cost_usd: float | None
    last_heartbeat: str | None
    has_tool_in_flight: bool
    is_lease_over: bool | None
    """None where its effort was not claimed from the queue."""
    is_waiting: bool
    """Whether a child is awaited by it."""
    is_unseen: bool
    """Whether it was spawned, and nothing has been seen of it yet."""


class OpenChild(Struct, frozen=True, gc=False):
    """A session that has not ended, and what its status follows from: one row, column by column."""

    id: int
    effort_id: int
    goal: str | None
    created_at: str
    last_heartbeat: str | None
    has_tool_in_flight: bool
    is_lease_over: bool | None
    is_waiting: bool
    is_unseen: bool
    ended_at: None = None


def list_nodes(db: Connection, roots: Iterable[int], *, characters: int, now: str) -> list[Node]:
    """The sessions of some trees, parents before their children; of what is said of each, so many characters."""
    rows = db.all(_sql.of_roots, ids=to_json(sorted(set(roots))), characters=characters, now=now)
    return [Node(*row) for row in rows]


def list_open_children(db: Connection, effort_id: int, *, characters: int, now: str) -> list[OpenChild]:
    """The sessions below those of an effort that have not ended."""
    rows = db.all(_sql.open_children, effort_id=effort_id, characters=characters, now=now)
    return [OpenChild(*row) for row in rows]


def list_members(db: Connection, scope: Scope, name: int | str) -> list[tuple[int, int]]:
    """The sessions that belong to something, and their roots."""
    query = {"effort": _sql.of_effort, "task": _sql.of_task, "run": _sql.of_run}[scope]
    return [(session_id, root_id) for session_id, root_id in db.all(query, name=name)]
