"""Requests and replies about transcripts."""

from datetime import datetime

from msgspec import Struct

from ramet.errors import Forbidden, SessionNotFound
from ramet.model.hooks.transcript import Entry
from ramet.protocol.fields import Name, Path, SessionId
from ramet.protocol.hooks.hooks import Count
from ramet.protocol.operation import Change, Operation, Pages, Request
from ramet.protocol.pages import Limit, NumberedName


class Ingested(Struct, frozen=True, kw_only=True):
    """How far a transcript was read, and how many entries were new."""

    session_id: int
    offset: int
    added: int
    replaced: int = 0
    """Provisional prompts that the transcript's own entries replaced."""


class AddEntries(Change[Ingested], frozen=True, kw_only=True):
    """Add the entries of a session's transcript, in the file's order. Known entries are skipped."""

    op = Operation("ingest.add", errors=(SessionNotFound,), audience="internal")

    session_id: SessionId
    """The session; for a sub-agent's transcript, the parent's session, with `agent_id`."""
    path: Path
    offset: Count
    """The offset at which to continue reading."""
    entries: list[Entry]
    inode: Count | None = None
    agent_id: Name | None = None
    counts_subagents: bool = False
    """Whether the program's stream tells of its sub-agents, and counts their usage as its own. What a keeper reports of
    them is then not taken from their transcripts again.
    """


class Ingest(Struct, frozen=True, kw_only=True):
    """One row of `ingests`."""

    session_id: int
    path: str
    offset: int
    inode: int | None
    at: datetime
    driver: str | None
    is_open: bool
    """Whether its session is open."""


class Ingests(Struct, frozen=True, kw_only=True):
    """The transcripts that are read, and how far."""

    items: list[Ingest]
    next: str | None = None
    """The cursor of the following page, or null on the last one."""


class ListIngests(Request[Ingests], frozen=True, kw_only=True):
    """List the transcripts that are read, and how far: those of one session, the one in a file, or all. An agent gets
    those of its own session.
    """

    op = Operation("ingest.list", errors=(SessionNotFound, Forbidden), ring="own", pages=Pages())

    session_id: SessionId | None = None
    path: Path | None = None
    limit: Limit | None = None
    cursor: NumberedName | None = None
