"""Requests and replies about transcripts."""

from datetime import datetime

from msgspec import Struct

from ramet.errors import SessionNotFound
from ramet.model.hooks.transcript import Entry
from ramet.protocol.fields import Name, Path, SessionId
from ramet.protocol.hooks.hooks import Count
from ramet.protocol.operation import Change, Operation, Request


class Ingested(Struct, frozen=True, kw_only=True):
    """How far a transcript was read, and how much of it was new."""

    session_id: int
    offset: int
    added: int
    replaced: int = 0
    """Provisional prompts that now are the transcript's."""


class AddEntries(Change[Ingested], frozen=True, kw_only=True):
    """What was read of a transcript, in its order; what is known already is not written again.

    What was read of a session's transcript, in the file's order. What is known already is not written again.
    """

    op = Operation("ingest.add", errors=(SessionNotFound,), audience="internal")

    session_id: SessionId
    """Of a sub-agent's transcript: the session whose sub-agent it is, with `agent_id`."""
    path: Path
    offset: Count
    """Where to go on reading."""
    entries: list[Entry]
    inode: Count | None = None
    agent_id: Name | None = None
    counts_subagents: bool = False
    """Whether the program counts what its sub-agents use as its own: then so does the keeper of a session, and what
    their transcripts say that they used is not counted again.
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
    """Whether its session has not ended."""


class Ingests(Struct, frozen=True, kw_only=True):
    """Which transcripts are read, and how far."""

    items: list[Ingest]


class ListIngests(Request[Ingests], frozen=True, kw_only=True):
    """Which transcripts are read, and how far.

    How far which transcripts were read; those of one session, the one in a file, or all.
    """

    op = Operation("ingest.list", errors=(SessionNotFound,))

    session_id: SessionId | None = None
    path: Path | None = None
