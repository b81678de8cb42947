"""Requests and replies about what earlier systems have stored."""

from typing import Annotated

from msgspec import Meta, Struct

from ramet.model.memory.predecessor import SourceRow, System
from ramet.protocol.fields import Name
from ramet.protocol.operation import Change, Operation


class ImportedRows(Struct, frozen=True, kw_only=True):
    """What became of the rows of one request."""

    new: int
    """Rows of the source that were not imported before."""
    known: int
    """Rows of the source that were imported before, and are the same."""
    changed: int
    """Rows of the source that were imported before and differ now. Their new values are kept beside the old ones."""
    kept: int
    """New rows that became no row of a table and are kept as they are, for example because what they refer to is
    missing.
    """
    added: dict[str, int]
    """The rows that were added, by kind."""


class ImportRows(Change[ImportedRows], frozen=True, kw_only=True):
    """Import rows of an earlier system's database or file. Rows that were imported before are not written again."""

    op = Operation("import.rows", audience="internal", is_long=True)

    system: System
    source: Name
    """Identifies the database or file among those of its system, wherever it is now."""
    rows: Annotated[list[SourceRow], Meta(max_length=1000)]
