"""Requests and replies about trees of sessions."""

from typing import Annotated

from msgspec import Meta, Struct

from ramet.errors import BranchNotFound, EffortNotFound, Forbidden, RunNotFound, SessionNotFound, TaskNotFound
from ramet.model.spawn.child import TreeRow
from ramet.protocol.fields import Id, Name, Path, SessionId
from ramet.protocol.operation import Operation, Pages, R, Request
from ramet.protocol.pages import Limit

TreeCursor = Annotated[str, Meta(pattern=r"^[0-9]{1,19}[.][0-9]{1,19}$")]
"""A place in some trees: the root and the session after which a page starts."""

TREE_PAGE = Pages(size=10_000)
"""Every page of a tree reads how all of its sessions are linked, so that pages of a tree are longer than others."""


class Lookup(Request[R], frozen=True, kw_only=True):
    """A session, identified by exactly one of the first five fields."""

    session_id: SessionId | None = None
    effort_id: Id | None = None
    branch: Name | None = None
    task_id: Path | None = None
    run_id: Id | None = None
    limit: Limit | None = None
    """The most sessions in one reply (default: all)."""
    cursor: TreeCursor | None = None
    """The `next` of the page before."""


class Trees(Struct, frozen=True, kw_only=True):
    """The sessions of one or more trees: parents before their children, siblings in the order of their spawning."""

    items: list[TreeRow]
    next: str | None = None
    """The cursor of the following page, or null on the last one."""


class ListChildren(Lookup[Trees], frozen=True, kw_only=True):
    """List the sessions that a session spawned."""

    op = Operation("spawn.children", errors=(SessionNotFound, Forbidden), ring="own", is_long=True, pages=TREE_PAGE)


class ListAncestors(Lookup[Trees], frozen=True, kw_only=True):
    """List the ancestors of a session, from its parent up to its root."""

    op = Operation("spawn.ancestors", errors=(SessionNotFound, Forbidden), ring="own", is_long=True, pages=TREE_PAGE)


class ShowTree(Lookup[Trees], frozen=True, kw_only=True):
    """Show the whole tree of a session with status, outcome and cost; with `below`, only the session and its
    descendants.
    """

    op = Operation(
        "spawn.tree",
        errors=(SessionNotFound, Forbidden, EffortNotFound, BranchNotFound, TaskNotFound, RunNotFound),
        ring="own",
        is_long=True,
        pages=TREE_PAGE,
    )

    below: bool = False
