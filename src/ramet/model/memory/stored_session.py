"""A stored session: what an agent program keeps of one conversation on the disk, before Ramet has a row for it.

A vendor finds its stored sessions without reading them, and reads one in pieces. Entries have the form that hooks use
as well (`model.hooks.transcript`), so that an imported session and a watched one have the same history.
"""

from datetime import datetime

from msgspec import Struct

from ramet.model.hooks.transcript import Entry


class Source(Struct, frozen=True, kw_only=True):
    """One session on the disk, found without reading it."""

    vendor: str
    key: str
    """Identifies the session among those of its vendor: its file, or a database and the row in it."""
    path: str
    """The file that has it."""
    size_bytes: int
    changed_ms: int
    """When it last changed, in milliseconds since 1970."""
    is_subagent: bool = False
    """Whether its place says that it is a sub-agent's, which is imported behind all sessions that may have run it."""


class Head(Struct, frozen=True, kw_only=True):
    """What a stored session says of itself as a whole. What it does not say is None."""

    native_id: str
    """The program's own id of the session; for a sub-agent, its own id and not its parent's."""
    cwd: str | None = None
    started_at: datetime | None = None
    title: str | None = None
    parent_id: str | None = None
    """Of a sub-agent: the program's own id of the session that ran it."""
    origin_id: str | None = None
    """Of a fork: the program's own id of the session that it was copied from."""
    model: str | None = None
    version: str | None = None
    """The version of the program that wrote it."""


class Piece(Struct, frozen=True, kw_only=True):
    """A part of a stored session, small enough to write in one transaction."""

    entries: list[Entry]
    position: str
    """Where to continue, in the reader's own words: with it, a grown session gives only what is new."""
    head: Head | None = None
    """In the first piece, and again if a later one knows more."""
    skipped: int = 0
    """Lines or rows that could not be read."""
