"""What takes the space of a database: what was said, and what is recorded about it."""

from ramet.model.instant import from_iso
from ramet.protocol.memory.archives import SizeKind, SizePart, SizeReport
from ramet.store.database.queries import QueryFile
from ramet.store.database.store import ReadableStore

_sql = QueryFile("database/sizes")

_CONTENT = {"blobs", "images", "commits", "messages", "embeddings"}
_INDEX = ("idx_", "ix_", "sqlite_autoindex")
_INDEX_ENDS = ("_pkey", "_key")


def measure(store: ReadableStore) -> SizeReport:
    """The parts of a database, the largest first."""
    db = store.connect_reader()
    try:
        counts = {str(name): int(number) for name, number in db.all(_sql.counts)}
        (oldest,) = db.must(_sql.oldest)
    finally:
        db.close()
    parts = [
        SizePart(name=name.strip("()"), kind=_kind(name), bytes=size, rows=counts.get(name))
        for name, size in store.measure().items()
        if size
    ]
    parts.sort(key=lambda part: (-part.bytes, part.name))
    total = sum(part.bytes for part in parts)
    return SizeReport(total_bytes=total, parts=parts, oldest_session=None if oldest is None else from_iso(oldest))


def _kind(name: str) -> SizeKind:
    if name.startswith("("):
        return "file"
    if name.startswith(_INDEX) or name.endswith(_INDEX_ENDS):
        return "index"
    return "content" if name in _CONTENT else "records"
