"""Requests and replies about trees of sessions."""

from msgspec import Struct

from ramet.errors import BranchNotFound, EffortNotFound, Forbidden, RunNotFound, SessionNotFound, TaskNotFound
from ramet.model.spawn.child import TreeRow
from ramet.protocol.fields import Id, Name, Path, SessionId
from ramet.protocol.operation import Operation, R, Request


class Lookup(Request[R], frozen=True, kw_only=True):
    """A session, identified by exactly one of these fields."""

    session_id: SessionId | None = None
    effort_id: Id | None = None
    branch: Name | None = None
    task_id: Path | None = None
    run_id: Id | None = None


class Trees(Struct, frozen=True, kw_only=True):
    """The sessions of one or more trees: parents before their children, siblings in the order of their spawning."""

    items: list[TreeRow]


class ListChildren(Lookup[Trees], frozen=True, kw_only=True):
    """List the sessions that a session spawned."""

    op = Operation("spawn.children", errors=(SessionNotFound, Forbidden), ring="own", is_long=True)


class ListAncestors(Lookup[Trees], frozen=True, kw_only=True):
    """List the ancestors of a session, from its parent up to its root."""

    op = Operation("spawn.ancestors", errors=(SessionNotFound, Forbidden), ring="own", is_long=True)


class ShowTree(Lookup[Trees], frozen=True, kw_only=True):
    """Show the whole tree of a session with status, outcome and cost; with `below`, only the session and its
    descendants.
    """

    op = Operation(
        "spawn.tree",
        errors=(SessionNotFound, Forbidden, EffortNotFound, BranchNotFound, TaskNotFound, RunNotFound),
        ring="own",
        is_long=True,
    )

    below: bool = False
