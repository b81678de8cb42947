"""What is remembered of imports: how far each source was read, and what an imported session needs around it."""

from msgspec import Struct

from ramet.protocol.memory.imports import KnownSource
from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile

_sql = QueryFile("memory/imports")


class Place(Struct, frozen=True):
    """A source: the machine that has it, its vendor, and its key."""

    host: str
    vendor: str
    source: str


class Imported(Struct, frozen=True):
    """How far a source was imported, and into which session."""

    session_id: int
    position: str
    size_bytes: int
    changed_ms: int
    is_whole: bool
    skipped: int


def find(db: Connection, place: Place) -> Imported | None:
    """How far a source was imported; None if it is new."""
    row = db.one(_sql.find, host=place.host, vendor=place.vendor, source=place.source)
    if row is None:
        return None
    session_id, position, size_bytes, changed_ms, is_whole, skipped = row
    return Imported(session_id, position, size_bytes, changed_ms, bool(is_whole), skipped)


def put(db: Connection, place: Place, imported: Imported, now: str) -> None:
    """Note how far a source was imported."""
    db.run(
        _sql.put,
        host=place.host,
        vendor=place.vendor,
        source=place.source,
        session_id=imported.session_id,
        position=imported.position,
        size_bytes=imported.size_bytes,
        changed_ms=imported.changed_ms,
        is_whole=int(imported.is_whole),
        skipped=imported.skipped,
        now=now,
    )


def list_page(db: Connection, after: Place, limit: int) -> list[KnownSource]:
    """The sources of a host behind one, in the order of their names."""
    rows = db.all(_sql.page, host=after.host, vendor=after.vendor, source=after.source, limit=limit)
    return [
        KnownSource(
            vendor=vendor,
            source=source,
            session_id=session_id,
            position=position,
            size_bytes=size_bytes,
            changed_ms=changed_ms,
            is_whole=bool(is_whole),
            skipped=skipped,
        )
        for vendor, source, session_id, position, size_bytes, changed_ms, is_whole, skipped in rows
    ]


def unlist_project(db: Connection, project_id: int, now: str) -> None:
    """Keep a project that nobody has registered off the list."""
    db.run(_sql.unlist, id=project_id, now=now)


def extend(db: Connection, session_id: int, at: str) -> None:
    """A session that is over, and its effort, lasted until an instant at least. An open one is left alone."""
    row = db.one(_sql.extend_session, id=session_id, at=at)
    if row is not None:
        db.run(_sql.extend_effort, id=row[0], at=at)
