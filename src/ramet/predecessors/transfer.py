"""From a source into the database: checked as a whole first, then sent in requests of a bounded size.

Nothing is sent before every row was read once, so a damaged source leaves nothing behind. An interrupted transfer is
repeated from the start; rows that arrived are known by then.
"""

from collections.abc import Callable, Iterator

import msgspec
from msgspec import Struct

from ramet.model.memory.predecessor import SourceRow, System
from ramet.predecessors.source import Source, invalid
from ramet.protocol.memory.predecessors import ImportedRows, ImportRows
from ramet.protocol.operation import Ask

BATCH_ROWS = 200
BATCH_BYTES = 512 * 1024
REQUEST_BYTES = 8 * 1024 * 1024
"""The default of `daemon.max_request_bytes`."""
_AROUND_BYTES = 4096
"""More than a request has around its rows."""

Progress = Callable[[int, int], None]
"""Called with the rows that were sent, and all rows."""


class Transferred(Struct, frozen=True, kw_only=True):
    """What became of a source."""

    system: System
    source: str
    version: str
    path: str
    rows: int
    """Rows that the source has."""
    new: int
    known: int
    changed: int
    kept: int
    tables: dict[str, int]
    """The rows of the source, by table."""
    added: dict[str, int]
    """The rows that were added, by kind."""


def count_rows(source: Source, max_request_bytes: int = REQUEST_BYTES) -> dict[str, int]:
    """How many rows each table of a source has. Every row is read, so this also checks the source, and that a request
    can carry each row.
    """
    counts: dict[str, int] = {}
    largest = max_request_bytes - _AROUND_BYTES
    for row in source.rows():
        size = len(msgspec.json.encode(row))
        if size > largest:
            raise invalid(
                source.path,
                f"row {row.key} of {row.table} is larger than a request may be",
                field=row.table,
                value=size,
                fix=f"raise the limit and restart the daemon: `ramet config daemon.max_request_bytes {size * 2}`",
            )
        if row.values is not None:
            counts[row.table] = counts.get(row.table, 0) + 1
    return counts


def transfer(
    source: Source, ask: Ask, progress: Progress | None = None, *, max_request_bytes: int = REQUEST_BYTES
) -> Transferred:
    """Import a source, and say what became of its rows."""
    tables = count_rows(source, max_request_bytes)
    total, sent = sum(tables.values()), 0
    replies: list[ImportedRows] = []
    for batch in _batches(source.rows()):
        replies.append(ask(ImportRows(system=source.system, source=source.identity, rows=batch)))
        sent += sum(row.values is not None for row in batch)
        if progress is not None:
            progress(sent, total)
    return _sum_up(source, tables, replies)


def _batches(rows: Iterator[SourceRow]) -> Iterator[list[SourceRow]]:
    batch: list[SourceRow] = []
    size = 0
    for row in rows:
        row_size = len(msgspec.json.encode(row))
        if batch and (len(batch) == BATCH_ROWS or size + row_size > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += row_size
    if batch:
        yield batch


def _sum_up(source: Source, tables: dict[str, int], replies: list[ImportedRows]) -> Transferred:
    added: dict[str, int] = {}
    for reply in replies:
        for kind, number in reply.added.items():
            added[kind] = added.get(kind, 0) + number
    return Transferred(
        system=source.system,
        source=source.identity,
        version=source.version,
        path=str(source.path),
        rows=sum(tables.values()),
        new=sum(reply.new for reply in replies),
        known=sum(reply.known for reply in replies),
        changed=sum(reply.changed for reply in replies),
        kept=sum(reply.kept for reply in replies),
        tables=tables,
        added=added,
    )
