"""Requests and replies about searching what is remembered."""

from typing import Annotated

from msgspec import Meta, Struct

from ramet.errors import InvalidParams, ProjectNotFound, SessionNotFound, UnknownFilter
from ramet.model.memory.search.hit import Hit, Kind
from ramet.model.record.message import Role
from ramet.protocol.fields import Content, Name, Path, ProjectRef, SessionId
from ramet.protocol.operation import Operation, Pages, Request


class SearchPage(Struct, frozen=True, kw_only=True):
    """The hits of a query, best first."""

    items: list[Hit]
    next: str | None = None
    """The cursor of the following page, or null on the last one."""
    suggestion: str | None = None
    """The query with its misspelt words corrected, if nothing has them as they are."""
    dropped: list[str] = []
    """The words that had to be left out to find something."""
    lag: int = 0
    """How many changes of the database the index does not have yet."""


class SearchMemory(Request[SearchPage], frozen=True, kw_only=True):
    """Search messages, reports, notes, decisions and handoffs; with `kind` also commands, output, errors and paths.

    The query can have filters as well: `kind:command since:7d "exact phrase"`. A field takes precedence over a filter.
    """

    op = Operation(
        "memory.search",
        errors=(InvalidParams, UnknownFilter, ProjectNotFound, SessionNotFound),
        ring="project",
        is_long=True,
        pages=Pages(size=200),
    )

    query: Content
    project: ProjectRef | None = None
    """The project to search (default: every project; for an agent, its own)."""
    near: ProjectRef | None = None
    """The project that the question comes from: of equal hits, its own come first (for an agent, its own project)."""
    kind: Kind | None = None
    agent: Name | None = None
    """The name of an agent program or of an agent."""
    path: Path | None = None
    """A part of a path: only sessions that touched or named such a file."""
    since: Name | None = None
    """The oldest time: 7d, 12h, or a date such as 2026-11-01."""
    role: Role | None = None
    session: SessionId | None = None
    limit: Annotated[int, Meta(ge=1, le=200)] = 20
    cursor: Name | None = None
