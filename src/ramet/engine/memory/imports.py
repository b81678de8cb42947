"""Imports: sessions that agent programs stored, written into the record with their own times.

An imported session is one like any other: it has the vendor's own id, so hooks that watch it later find it, and its
entries have the keys that hooks use, so nothing is written twice. It is over; a session that is open stays open. What a
piece says and where to continue are one transaction, so an import can be interrupted anywhere.
"""

from msgspec import Struct

from ramet.engine.answers import answers, prepares
from ramet.engine.contents import Contents
from ramet.engine.hooks import light_efforts, transcripts
from ramet.engine.hooks.transcripts import Read
from ramet.engine.record import lookup, sessions, subagents
from ramet.engine.transaction import Transaction
from ramet.errors import InvalidParams
from ramet.model.instant import from_datetime, to_iso
from ramet.model.memory.stored_session import Head
from ramet.model.names import clean_name
from ramet.model.record.project import Project, normal_path
from ramet.model.record.session import TreePlace, native_name
from ramet.protocol.memory.imports import (
    AddedPiece,
    AddedPieces,
    AddPieces,
    KnownSources,
    ListSources,
    StoredPiece,
)
from ramet.store.hooks import hooks
from ramet.store.hooks.hooks import Hooked
from ramet.store.memory import imports
from ramet.store.memory.imports import Imported, Place
from ramet.store.record import projects
from ramet.store.record import sessions as session_rows
from ramet.store.record.sessions import NativeWindow, NewSession


class PreparedPieces(Struct, frozen=True):
    """Pieces whose contents need no transaction any more."""

    request: AddPieces
    read: list[list[Read]]


@prepares(AddPieces)
def prepare(request: AddPieces, contents: Contents) -> PreparedPieces:
    """Redact, hash and compress what was read."""
    return PreparedPieces(request, [transcripts.prepare_entries(piece.entries, contents) for piece in request.pieces])


@answers(AddPieces)
def add(tx: Transaction, prepared: PreparedPieces) -> AddedPieces:
    """Write pieces in their order."""
    request = prepared.request
    importing = _Importing(tx, request.host or "", waits=request.waits)
    pieces = zip(request.pieces, prepared.read, strict=True)
    return AddedPieces(items=[importing.add(piece, read) for piece, read in pieces])


@answers(ListSources)
def list_sources(tx: Transaction, request: ListSources) -> KnownSources:
    """The sources that were imported on a machine, and how far."""
    vendor, source = (request.after.vendor, request.after.source) if request.after else ("", "")
    found = imports.list_page(tx.db, Place(request.host or "", vendor, source), request.limit + 1)
    return KnownSources(items=found[: request.limit], has_more=len(found) > request.limit)


class _Importing:
    """The pieces of one request on their way into the record."""

    def __init__(self, tx: Transaction, host: str, *, waits: bool) -> None:
        self._tx = tx
        self._host = host
        self._waits = waits
        self._left: set[str] = set()
        """Sources of which an earlier piece was left out: then so are those behind it."""

    def add(self, piece: StoredPiece, read: list[Read]) -> AddedPiece:
        """Write one piece."""
        tx, place = self._tx, Place(self._host, piece.vendor, piece.source)
        known = None if piece.source in self._left else imports.find(tx.db, place)
        if piece.after is not None and known is not None and known.position != piece.after:
            return AddedPiece(state="moved", session_id=known.session_id)
        found, is_new = self._find(piece, read, known)
        if found is None or _is_recorded(tx, found):
            self._left.add(piece.source)
            return AddedPiece(state="waits" if found is None else "recorded", session_id=found.id if found else None)
        added = self._write(piece, read, found, is_new=is_new)
        skipped = piece.skipped + (0 if known is None or is_new else known.skipped)
        now = Imported(found.id, piece.position, piece.size_bytes, piece.changed_ms, piece.is_last, skipped)
        if known != now or added:
            imports.put(tx.db, place, now, tx.now, piece.head)
            data = {"path": piece.source, "added": added}
            tx.record("session.ingested", effort_id=found.effort_id, session_id=found.id, data=data)
        if piece.head is not None:
            _link(tx, found, piece.vendor, piece.head)
        return AddedPiece(state="added", session_id=found.id, is_new=is_new, added=added)

    def _write(self, piece: StoredPiece, read: list[Read], found: Hooked, *, is_new: bool) -> int:
        tx = self._tx
        writing = transcripts.Writing(tx, found, counts=True)
        writing.put_all(read, is_new=is_new)
        writing.close()
        if piece.head is not None:
            _note_head(tx, found, piece.head)
        imports.extend(tx.db, found.id, to_iso(min(_newest_ms(read), tx.now_ms)))
        return writing.added

    def _find(self, piece: StoredPiece, read: list[Read], known: Imported | None) -> tuple[Hooked | None, bool]:
        """The session of a piece, and whether it was not known. None if it has to wait."""
        tx, head = self._tx, piece.head
        if head is None:
            if known is not None:
                return subagents.must_find(tx, known.session_id), False
            return None, False  # the piece before it waits
        found = hooks.find_native(tx.db, piece.vendor, _name(head))
        if found is not None:
            return found, False
        parent = _find_native(tx, piece.vendor, head.parent_id)
        if parent is not None and _is_recorded(tx, parent):
            return parent, False  # whose keeper, or the feed behind it, tells of its sub-agents
        origin = _find_native(tx, piece.vendor, head.origin_id)
        is_missing = (head.parent_id and parent is None) or (head.origin_id and origin is None)
        if is_missing and self._waits:
            return None, False
        return self._begin(piece, head, read, parent), True

    def _begin(self, piece: StoredPiece, head: Head, read: list[Read], parent: Hooked | None) -> Hooked:
        """A session that was over before we knew of it."""
        tx = self._tx
        started_ms = min(_started_ms(head, read) or piece.changed_ms, tx.now_ms)
        started = to_iso(max(started_ms, 0))
        if parent is None:
            effort = light_efforts.begin_finished(tx, self._project(piece, head), started)
            task_id, effort_id, place = effort.task_id, effort.id, TreePlace()
        else:
            above = lookup.session(tx, parent.id)
            task_id, effort_id, place = above.task_id, above.effort_id, sessions.place_in_tree(None, above)
        new = NewSession(
            task_id=task_id,
            effort_id=effort_id,
            place=place,
            window=NativeWindow(driver=piece.vendor, native_id=_name(head)),
        )
        session = session_rows.start(tx.db, new, now=started, now_ms=tx.now_ms)
        session_rows.close(tx.db, session.id, "success", None, started)
        data = {"driver": piece.vendor, "native_id": session.native_id, "parent_session_id": session.parent_session_id}
        tx.record("session.imported", task_id=task_id, effort_id=effort_id, session_id=session.id, data=data)
        return subagents.must_find(tx, session.id)

    def _project(self, piece: StoredPiece, head: Head) -> Project:
        """The project of a session: the nearest registered one around its directory, unless a repository is nearer.

        One that is not registered gets a row that is off the list, because registering it would also let hooks record
        in it. `ramet project add` puts it on the list, with its sessions.
        """
        tx = self._tx
        cwd = normal_path(head.cwd) if head.cwd else None
        suggested = normal_path(piece.project) if piece.project else cwd
        around = projects.find_containing(tx.db, cwd or suggested or "/")
        is_nearer = suggested is not None and around is not None and suggested.startswith(f"{around.path.rstrip('/')}/")
        if around is not None and not (piece.is_repository and is_nearer):
            return around
        if suggested is None:
            raise InvalidParams(
                f"{piece.source} does not say in which directory it was",
                field="project",
                value=piece.source,
                fix="give the directory with --project",
            )
        known = projects.find_at(tx.db, suggested) or (around if piece.project is None else None)
        if known is not None:
            return known
        new = projects.register(tx.db, suggested, None, tx.now)
        imports.unlist_project(tx.db, new.id, tx.now)
        tx.record("project.added", project_id=new.id, data={"is_listed": False})
        return new


def _name(head: Head) -> str:
    """By which name hooks know the session: that of a sub-agent is inside its parent's."""
    if head.parent_id is None or head.parent_id == head.native_id:
        return native_name(head.native_id, None)
    return native_name(head.parent_id, head.native_id)


def _find_native(tx: Transaction, vendor: str, native_id: str | None) -> Hooked | None:
    """The session that its program knows by an id. A sub-agent that ran another one is known by it to imports."""
    if not native_id:
        return None
    found = hooks.find_native(tx.db, vendor, native_name(native_id, None))
    if found is not None:
        return found
    imported = imports.find_session(tx.db, vendor, native_id)
    return None if imported is None else subagents.must_find(tx, imported)


def _link(tx: Transaction, found: Hooked, vendor: str, head: Head) -> None:
    """Put a session below its parent, and its sub-agents below it, if they were imported before."""
    parent = _find_native(tx, vendor, head.parent_id)
    if parent is not None:
        _adopt(tx, found.id, parent.id)
    for child in imports.list_orphans(tx.db, vendor, head.native_id):
        _adopt(tx, child, found.id)


def _adopt(tx: Transaction, child_id: int, parent_id: int) -> None:
    """Make a session the child of another one, unless it has a parent or is above that one."""
    child, parent = lookup.session(tx, child_id), lookup.session(tx, parent_id)
    if child.parent_session_id is not None or child.root_session_id != child.id or parent.root_session_id == child.id:
        return
    imports.adopt(tx.db, child_id, parent)
    data = {"parent_session_id": parent_id, "spawn_depth": parent.spawn_depth + 1}
    tx.record("session.spawned", effort_id=child.effort_id, session_id=child_id, data=data)


def _is_recorded(tx: Transaction, found: Hooked) -> bool:
    """Whether Ramet ran the agent, or a person continued what it ran: then its keeper, and the feed behind it, have
    what was said. One whose texts were purged is not filled again, although its program still has them.
    """
    if found.is_kept or hooks.is_within_kept(tx.db, found.id):
        return True
    session = lookup.session(tx, found.id)
    if session.purged_at is not None:
        return True
    prev = session.prev_session_id
    return prev is not None and subagents.must_find(tx, prev).is_kept


def _note_head(tx: Transaction, found: Hooked, head: Head) -> None:
    """What a stored session says of itself, if nothing has said it better."""
    if title := transcripts.one_line(head.title):
        sessions.note_title(tx, found.id, title, is_given=False)
    if head.model and lookup.session(tx, found.id).model is None:
        session_rows.observe(tx.db, found.id, clean_name(head.model), None)
    origin = _find_native(tx, found.driver or "", head.origin_id)
    if origin is not None:
        sessions.note_origin(tx, found.id, origin.id)


def _started_ms(head: Head, read: list[Read]) -> int | None:
    if head.started_at is not None and head.started_at.tzinfo is not None:
        return from_datetime(head.started_at)
    return min((at for each in read if each.turn is not None and (at := each.turn.at_ms) is not None), default=None)


def _newest_ms(read: list[Read]) -> int:
    return max((each.turn.at_ms or 0 for each in read if each.turn is not None), default=0)
