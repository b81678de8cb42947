"""What is remembered of imports: how far each source was read, and what an imported session needs around it."""

from msgspec import Struct

from ramet.model.memory.stored_session import Head
from ramet.model.record.session import Session, native_name
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


def put(db: Connection, place: Place, imported: Imported, now: str, head: Head | None) -> None:
    """Note how far a source was imported, and what its program calls it and the session that ran it."""
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
        native_id=_id(head.native_id) if head else None,
        parent_id=_id(head.parent_id) if head and head.parent_id else None,
    )


def _id(native_id: str) -> str:
    return native_name(native_id, None)


def find_session(db: Connection, vendor: str, native_id: str) -> int | None:
    """The imported session, be it a sub-agent's, that its program knows by an id."""
    found = db.must(_sql.session_of, vendor=vendor, native_id=_id(native_id))[0]
    return None if found is None else int(found)


def list_orphans(db: Connection, vendor: str, parent_id: str) -> list[int]:
    """The sub-agents of a session that was not known when they were imported."""
    return [int(row[0]) for row in db.all(_sql.orphans, vendor=vendor, parent_id=_id(parent_id))]


def adopt(db: Connection, child: int, parent: Session) -> None:
    """Put a root session, with all below it, below another one, which is not in its tree."""
    db.run(_sql.adopt, id=child, parent=parent.id, root=parent.root_session_id, deeper=parent.spawn_depth + 1)


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
