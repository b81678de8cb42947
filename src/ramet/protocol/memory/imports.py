"""Requests and replies about imports: sessions that agent programs stored, on their way into the record.

The caller has the files, reads them and sends pieces. A piece is written in one transaction with the position at which
to continue, so an import can be interrupted anywhere and repeated.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ramet.errors import InvalidParams
from ramet.model.hooks.transcript import Entry
from ramet.model.memory.stored_session import Head
from ramet.protocol.fields import DriverName, Name, Path
from ramet.protocol.hooks.hooks import Count
from ramet.protocol.operation import Change, Operation, Request

MOST_PIECES = 200
"""How many pieces one request may have."""

PieceState = Literal["added", "recorded", "waits", "moved"]
"""`recorded`: Ramet ran this agent itself, and has what it said, or its texts were purged. `waits`: the session that it
names as its parent or its origin is not known yet. `moved`: the source was not imported as far as the piece says, or
further: the piece before it is missing, or another import continues it.
"""


class StoredPiece(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A piece of a stored session, and where it is from."""

    vendor: DriverName
    source: Path
    """Identifies the session among those of its vendor on this machine."""
    entries: list[Entry]
    position: Annotated[str, Meta(max_length=4096)]
    """Where to continue reading."""
    after: Annotated[str, Meta(max_length=4096)] | None = None
    """The position that the piece continues; null for the first piece of its source."""
    size_bytes: Count
    changed_ms: int
    """The size of the source and the time of its last change, as they were before it was read."""
    is_last: bool = False
    """Whether nothing follows."""
    head: Head | None = None
    """Needed for the first piece of a source."""
    skipped: Count = 0
    project: Path | None = None
    """The project's directory as the disk suggests it: the repository of the recorded directory, else that itself."""
    is_repository: bool = False
    """Whether `project` is the root of a repository."""


class AddedPiece(Struct, frozen=True, kw_only=True):
    """What became of a piece."""

    state: PieceState
    session_id: int | None = None
    is_new: bool = False
    """Whether its session was not known."""
    added: int = 0
    """How many of its entries were not known."""


class AddedPieces(Struct, frozen=True, kw_only=True):
    """What became of each piece."""

    items: list[AddedPiece]


class AddPieces(Change[AddedPieces], frozen=True, kw_only=True):
    """Add pieces of stored sessions, in their order, together with how far each source was read. Known entries are
    skipped.
    """

    op = Operation("imports.add", errors=(InvalidParams,), audience="internal", is_long=True)

    pieces: Annotated[list[StoredPiece], Meta(max_length=MOST_PIECES)]
    host: Name | None = None
    """The machine that has the sources, if several machines share the database."""
    waits: bool = True
    """Whether a piece waits if the session is unknown that it names as its parent or its origin."""


class KnownSource(Struct, frozen=True, kw_only=True):
    """One row of `imports`: a stored session, and how far it was imported."""

    vendor: str
    source: str
    session_id: int
    position: str
    size_bytes: int
    changed_ms: int
    is_whole: bool
    """Whether it was imported to its end."""
    skipped: int
    """The lines or rows of it that could not be read."""


class KnownSources(Struct, frozen=True, kw_only=True):
    """A page of the list of imported sources."""

    items: list[KnownSource]
    has_more: bool
    """Whether others follow the last one."""


class SourceCursor(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A place in the list of sources."""

    vendor: Name
    source: Path


class ListSources(Request[KnownSources], frozen=True, kw_only=True):
    """List the stored sessions that were imported on a machine, and how far; at most 1,000 at a time, behind the last
    one of the page before.
    """

    op = Operation("imports.list")

    host: Name | None = None
    after: SourceCursor | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 1000
