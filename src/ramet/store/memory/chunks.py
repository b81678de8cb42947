"""Texts that programs gave to be searched. The rows outlive the index, which has their words."""

from ramet.model.history.commit import hash_content
from ramet.protocol.memory.chunks import Chunk
from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile

_sql = QueryFile("memory/chunks")


def put(db: Connection, *, project_id: int | None, source_type: str, source_path: str, text: str, now: str) -> Chunk:
    """Add a text, or renew the same one."""
    return db.must_struct(
        Chunk,
        _sql.put,
        project_id=project_id,
        source_type=source_type,
        source_path=source_path,
        chunk_text=text,
        content_hash=hash_content(text.encode()),
        now=now,
    )


def put_vector(db: Connection, chunk_id: int, model: str, dimension: int, embedding: bytes) -> None:
    """The vector of a text, as 32-bit floats."""
    db.run(_sql.put_vector, id=chunk_id, model=model, dimension=dimension, embedding=embedding)


def delete(db: Connection, source_path: str, project_id: int | None) -> list[int]:
    """Delete the texts of a source path; their ids."""
    return [row[0] for row in db.all(_sql.delete, source_path=source_path, project_id=project_id)]


def count(db: Connection, project_id: int | None) -> dict[str, tuple[int, int]]:
    """How many texts of each source type there are, and how many of them have a vector."""
    return {row[0]: (row[1], row[2]) for row in db.all(_sql.count, project_id=project_id)}


def find(db: Connection, chunk_id: int) -> Chunk | None:
    """One text."""
    return db.struct(Chunk, _sql.find, id=chunk_id)
