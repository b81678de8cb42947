"""Secrets that were stored before a rule existed: found in every text of a database, and removed from it.

A content is removed whole. Its row keeps hash and size, so that every commit keeps its hash, and gets a tombstone. Any
other text keeps what is no secret; a commit of which something was changed gets a tombstone as well, because its hash
can no longer be verified.
"""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

from msgspec import Struct

from ramet.errors import StoreError
from ramet.model.redaction import Redactor
from ramet.store.database.blobs import PURGED, Codec
from ramet.store.database.connection import Connection, Retry
from ramet.store.database.queries import QueryFile
from ramet.store.database.text_rows import TextRow, TextRows

_sql = QueryFile("database/purge")
_check = QueryFile("database/check")

_PAGE = 500
_ATTEMPTS = 5
_KIND = re.compile(r"\[REDACTED:([a-z_]+):[0-9a-f]{8}\]")


class Burial(Struct, frozen=True):
    """What tombstones say."""

    purged_by: str
    purged_at: str
    reason: str


class Found(Struct, kw_only=True):
    """How much was found in one database or file."""

    blobs: int = 0
    commits: int = 0
    texts: int = 0
    """Values of other columns."""
    kinds: dict[str, int] = {}
    """How many secrets of each kind."""

    @property
    def is_empty(self) -> bool:
        return not (self.blobs or self.commits or self.texts)

    def add(self, redacted: str, before: str) -> None:
        """Count the placeholders that are new."""
        new = Counter(_KIND.findall(redacted))
        new.subtract(Counter(_KIND.findall(before)))
        for kind, count in new.items():
            if count > 0:
                self.kinds[kind] = self.kinds.get(kind, 0) + count


def search(db: Connection, rows: TextRows, redactor: Redactor) -> Found:
    """What would be purged."""
    found = Found()
    db.begin_reading()
    try:
        for _ in _find_blobs(db, redactor, found):
            found.blobs += 1
        for table in rows.tables():
            for _, _ in _find_texts(rows, table, redactor, found):
                found.commits += table == "commits"
                found.texts += table != "commits"
    finally:
        db.rollback()
    return found


def purge(db: Connection, rows: TextRows, redactor: Redactor, burial: Burial, *, has_tombstones: bool = True) -> Found:
    """Remove it, in one transaction, and then from the database's files. A copy from before tombstones gets none."""
    for _ in range(_ATTEMPTS):
        with suppress(Retry):  # another host wrote meanwhile
            found = _purge(db, rows, redactor, burial, has_tombstones=has_tombstones)
            rows.compact()
            return found
    raise StoreError("other hosts write to the database at the same time", fix="stop their daemons, then repeat this")


def _purge(db: Connection, rows: TextRows, redactor: Redactor, burial: Burial, *, has_tombstones: bool) -> Found:
    found = Found()
    db.begin()
    try:
        rows.defer_references()
        for blob_id, blob_hash, size in list(_find_blobs(db, redactor, found)):
            empty_blob(db, blob_id)
            found.blobs += 1
            if has_tombstones:
                bury(db, "blob", blob_hash, size, burial)
        for table in rows.tables():
            for row, clean in list(_find_texts(rows, table, redactor, found)):
                _change(db, rows, table, row, clean, burial if has_tombstones else None)
                found.commits += table == "commits"
                found.texts += table != "commits"
        db.commit()
    except BaseException:
        db.rollback()
        raise
    return found


def empty_blob(db: Connection, blob_id: int) -> None:
    """Remove a content and keep its row."""
    db.run(_sql.empty_blob, id=blob_id, codec=PURGED, data=b"")


def project_folders(db: Connection) -> list[str]:
    """Where reports may be."""
    return [str(path) for (path,) in db.all(_sql.project_folders)]


def _find_blobs(db: Connection, redactor: Redactor, found: Found) -> Iterator[tuple[int, bytes, int]]:
    codec, after = Codec(), 0
    while blobs := db.all(_check.blobs_after, after=after, limit=_PAGE):
        for blob_id, blob_hash, kind, size, data in blobs:
            if kind == PURGED:
                continue
            try:
                text = codec.unpack(kind, size, data).decode(errors="replace")
            except ValueError:
                continue  # damaged: `db check` says so
            redacted = redactor.redact_content(text)
            if redacted.secrets:
                found.add(redacted.text, text)
                yield blob_id, bytes(blob_hash), size
        after = blobs[-1][0]


def _find_texts(
    rows: TextRows, table: str, redactor: Redactor, found: Found
) -> Iterator[tuple[TextRow, dict[str, str | bytes]]]:
    for row in rows.read(table):
        clean: dict[str, str | bytes] = {}
        for column, value in row.texts.items():
            text = _text(value)
            redacted = None if text is None else redactor.redact_content(text)
            if text is not None and redacted is not None and redacted.secrets:
                found.add(redacted.text, text)
                clean[column] = redacted.text if isinstance(value, str) else redacted.text.encode()
        if clean:
            yield row, clean


def _text(value: str | bytes) -> str | None:
    """A value as text; a hash or a vector is none."""
    if isinstance(value, str):
        return value
    try:
        return bytes(value).decode()
    except UnicodeDecodeError:
        return None


def _change(
    db: Connection, rows: TextRows, table: str, row: TextRow, clean: dict[str, str | bytes], burial: Burial | None
) -> None:
    commit_hash = row.texts.get("hash")
    if table == "commits" and burial is not None and isinstance(commit_hash, bytes):
        size = sum(len(value) for column, value in row.texts.items() if column in clean)
        bury(db, "commit", bytes(commit_hash), size, burial)
    rows.change(table, row.key, clean)


def bury(db: Connection, subject: str, subject_hash: bytes, size: int, burial: Burial) -> None:
    """Say who removed a text, when and why."""
    db.run(
        _sql.bury,
        subject=subject,
        hash=subject_hash,
        size=size,
        purged_by=burial.purged_by,
        purged_at=burial.purged_at,
        reason=burial.reason,
    )
