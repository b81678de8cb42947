"""What is remembered of transcripts: which are read, how far, and which of their turns are here."""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from ramet.model.history.commit import canonical_json
from ramet.model.instant import from_iso
from ramet.protocol.hooks.transcripts import Ingest
from ramet.store.database.connection import Connection, to_json
from ramet.store.database.queries import QueryFile

_sql = QueryFile("hooks/transcripts")


class Position(Struct, frozen=True):
    """How far a file was read."""

    offset: int
    inode: int | None


class Sources(NamedTuple):
    """Who has told what was said in a session."""

    has_transcript: bool
    has_stream: bool


def find_sources(db: Connection, session_id: int) -> Sources:
    """Whether a session has turns from a transcript, and turns that a keeper reported."""
    has_transcript, has_stream = db.must(_sql.sources, session_id=session_id)
    return Sources(bool(has_transcript), bool(has_stream))


def begin(db: Connection, path: str, session_id: int, now: str) -> bool:
    """A transcript that is to be read; whether it is new."""
    return db.one(_sql.begin, path=path, session_id=session_id, now=now) is not None


def hand_on(db: Connection, of: int, to: int) -> None:
    """What follows in a session's transcript is another session's."""
    db.run(_sql.hand_on, of=of, to=to)


def put(db: Connection, path: str, session_id: int, position: Position, now: str) -> None:
    """Note how far a transcript was read."""
    db.run(_sql.put, path=path, session_id=session_id, read_bytes=position.offset, inode=position.inode, now=now)


def list_all(db: Connection) -> list[Ingest]:
    """Which transcripts are read, and how far."""
    return [_ingest(*row) for row in db.all(_sql.everything)]


def list_of_session(db: Connection, session_id: int) -> list[Ingest]:
    """A session's transcripts, and how far they were read."""
    return [_ingest(*row) for row in db.all(_sql.of_session, session_id=session_id)]


def find(db: Connection, path: str) -> Ingest | None:
    """The transcript in a file, where it is known: whose it is, and how far it was read."""
    row = db.one(_sql.of_path, path=path)
    return None if row is None else _ingest(*row)


def _ingest(
    session_id: int, path: str, offset: int, inode: int | None, at: str, driver: str | None, is_open: int
) -> Ingest:
    return Ingest(
        session_id=session_id,
        path=path,
        offset=offset,
        inode=inode,
        at=from_iso(at),
        driver=driver,
        is_open=bool(is_open),
    )


def is_known(db: Connection, source_key: str) -> bool:
    """Whether a turn of a transcript is here."""
    return db.one(_sql.is_known, source_key=source_key) is not None


def list_known(db: Connection, source_keys: Sequence[str]) -> set[str]:
    """Which of some turns of a transcript are here, in one look."""
    return {row[0] for row in db.all(_sql.known_among, keys=to_json(list(source_keys)))}


def add_thought(db: Connection, session_id: int, source_key: str) -> bool:
    """A thought of a transcript comes into a session's history; whether it is not there."""
    return db.one(_sql.add_thought, session_id=session_id, source_key=source_key) is not None


def find_tool(db: Connection, session_id: int, call_id: str) -> str | None:
    """The tool of a call in a session's history."""
    mark = canonical_json({"call_id": call_id}).decode()[1:-1]
    row = db.one(_sql.tool_of_call, session_id=session_id, mark=mark)
    return None if row is None else str(row[0])


def show_alive(db: Connection, session_id: int, at: str) -> None:
    """A session's transcript grew at an instant."""
    db.run(_sql.alive, id=session_id, at=at)
