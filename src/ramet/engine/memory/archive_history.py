"""The history in an archive: contents, images and commits are known by their hashes, tombstones stay.

A text in which today's rules find a secret is not stored: its hash and its size are, with a tombstone.
"""

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ramet.engine.contents import Contents
from ramet.engine.transaction import Transaction
from ramet.errors import ArchiveInvalid
from ramet.model.history.branch import Head
from ramet.model.history.commit import CommitFacts, hash_commit
from ramet.model.history.image import Image
from ramet.model.memory.exports.archive import (
    ArchiveRow,
    check_row,
    facts_of,
    image_data,
    verify_blob,
    verify_image,
)
from ramet.model.memory.exports.archive_tables import TABLES
from ramet.store.database.blobs import Blob
from ramet.store.history import branches, commits, images, segments
from ramet.store.history.segments import NewCommit
from ramet.store.memory.exports import archive_rows

_TABLES = {"tombstones", "blobs", "images", "commits"}
_FOUND = "a secret was found in it when it was imported"
_IMPORTER = "ramet import"


class PreparedRow(Struct, frozen=True, kw_only=True):
    """A row without secrets."""

    row: ArchiveRow
    blob: Blob | None = None
    """The content, if it is one with a text."""
    facts: CommitFacts | None = None
    is_redacted: bool = False
    """Whether something that its hash covers was a secret."""


def prepare_row(row: ArchiveRow, contents: Contents) -> PreparedRow:
    """Verify a row as far as it can be done alone, and remove its secrets. It needs no transaction."""
    try:
        check_row(row)
        if row.table == "blobs":
            return _prepare_blob(row, contents)
        if row.table == "images":
            verify_image(row)
            return PreparedRow(row=row)
        clean = replace(row, values=_redact(row, contents))
        if row.table != "commits":
            return PreparedRow(row=clean)
        is_redacted = clean.values != row.values
        return PreparedRow(row=clean, facts=facts_of(clean), is_redacted=is_redacted)
    except ValueError as error:
        raise ArchiveInvalid(f"{row.table}: {error}", field=row.table) from error


def _redact(row: ArchiveRow, contents: Contents) -> dict[str, Any]:
    texts = {column.name for column in TABLES[row.table].columns if column.kind == "text"}
    return {
        name: contents.redact(value) if name in texts and isinstance(value, str) else value
        for name, value in row.values.items()
    }


def _prepare_blob(row: ArchiveRow, contents: Contents) -> PreparedRow:
    text = row.values["text"]
    if text is None:
        return PreparedRow(row=row)
    verify_blob(row, is_buried=False)
    content = contents.prepare(str(text))
    bare = replace(row, values={**row.values, "text": None})
    if content.redactions:
        return PreparedRow(row=bare, is_redacted=True)
    return PreparedRow(row=bare, blob=content.blob)


class HistoryRows:
    """Adds to the history of one transaction."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._db = tx.db

    def has(self, table: str) -> bool:
        """Whether rows of a table belong here."""
        return table in _TABLES

    def add(self, prepared: PreparedRow) -> bool:
        """Add a row; whether it is new."""
        table = prepared.row.table
        if table == "tombstones":
            return self._add_tombstone(prepared.row)
        if table == "blobs":
            return self._add_blob(prepared)
        if table == "images":
            image = Image(media_type=str(prepared.row.values["media_type"]), data=image_data(prepared.row))
            is_new = images.find(self._db, image.hash) is None
            images.put(self._db, [image])
            return is_new
        return self._add_commit(prepared)

    def commit_id(self, commit_hash: str) -> int:
        """A commit by its hash."""
        found = commits.find(self._db, bytes.fromhex(commit_hash))
        if found is None:
            raise KeyError(f"commit {commit_hash[:12]}")
        return found.commit_id

    def _add_tombstone(self, row: ArchiveRow) -> bool:
        """A tombstone, unless what it stands for is here and whole."""
        subject, subject_hash = str(row.values["subject"]), bytes.fromhex(str(row.values["hash"]))
        is_here = (
            archive_rows.find_blob(self._db, subject_hash) is not None
            if subject == "blob"
            else commits.find(self._db, subject_hash) is not None
        )
        if is_here:
            return False
        return archive_rows.add(self._db, "tombstones", {**row.values, "hash": subject_hash}) is not None

    def _add_blob(self, prepared: PreparedRow) -> bool:
        blob_hash = bytes.fromhex(str(prepared.row.values["hash"]))
        if archive_rows.find_blob(self._db, blob_hash) is not None:
            return False
        size = int(prepared.row.values["size"] or 0)
        if prepared.blob is not None:
            segments.put_blob(self._db, prepared.blob)
            return True
        if prepared.is_redacted:
            self._bury("blob", blob_hash, size)
        elif not archive_rows.has_tombstone(self._db, "blob", blob_hash):
            raise ArchiveInvalid("blobs: a content without a text has no tombstone", field="blobs")
        archive_rows.add_purged_blob(self._db, blob_hash, size)
        return True

    def _add_commit(self, prepared: PreparedRow) -> bool:
        row, facts = prepared.row, prepared.facts
        assert facts is not None  # noqa: S101
        commit_hash = bytes.fromhex(str(row.values["hash"]))
        if commits.find(self._db, commit_hash) is not None:
            return False
        if prepared.is_redacted:
            self._bury("commit", commit_hash, len(str(row.values["metadata"] or "")))
        elif hash_commit(facts) != commit_hash and not archive_rows.has_tombstone(self._db, "commit", commit_hash):
            raise ArchiveInvalid("commits: the commit does not have the hash that names it", field="commits")
        blob_id = archive_rows.find_blob(self._db, facts.content_hash)
        if blob_id is None:
            raise KeyError(f"content {facts.content_hash.hex()[:12]}")
        new = NewCommit(
            facts=facts,
            blob=blob_id,
            tokens=int(row.values["tokens"] or 0),
            reported_tokens=row.values["reported_tokens"],  # type: ignore[arg-type]
            target_id=self._optional(row, "target"),
            second_parent_id=self._optional(row, "second_parent"),
            hash=commit_hash,
        )
        placed = segments.put(self._db, self._head(facts.parent), new, int(row.values["created_ms"] or 0))
        self._annotate(placed.id, row)
        return True

    def _optional(self, row: ArchiveRow, name: str) -> int | None:
        value = row.values[name]
        return None if value is None else self.commit_id(str(value))

    def _head(self, parent: bytes | None) -> Head:
        """Where a commit goes."""
        if parent is None:
            return Head(0, None, 0, None, None, 0)
        point = commits.find(self._db, parent)
        if point is None:
            raise KeyError(f"commit {parent.hex()[:12]}")
        return Head(0, point.segment_id, point.seq, point.commit_id, point.hash, point.token_sum)

    def _annotate(self, commit_id: int, row: ArchiveRow) -> None:
        priority, tags = row.values["priority"], row.values["tags"]
        if priority is not None:
            commits.annotate(self._db, commit_id, priority)  # type: ignore[arg-type]
        if tags is not None:
            commits.set_tags(self._db, commit_id, msgspec.json.decode(str(tags), type=list[str]))

    def _bury(self, subject: str, subject_hash: bytes, size: int) -> None:
        values = {"subject": subject, "hash": subject_hash, "size": size, "reason": _FOUND}
        archive_rows.add(self._db, "tombstones", {**values, "purged_by": _IMPORTER, "purged_at": self._tx.now})

    def has_branch(self, name: str) -> bool:
        """Whether there is a branch of this name."""
        return branches.find(self._db, name) is not None

    def is_free(self, name: str, head_id: int | None) -> bool:
        """Whether a branch can have this name: no other has it, or one that points at the same commit."""
        head = segments.find_head(self._db, name)
        return head is None or (head_id is not None and head.commit_id == head_id)

    def create_branch(self, name: str, head_id: int | None, created_ms: int) -> str:
        """A branch at a commit, unless it is there."""
        if not self.has_branch(name):
            segments.create_branch(self._db, name, head_id, created_ms)
        return name

    def advance(self, name: str, head_id: int | None) -> bool:
        """Move a branch that was imported before forward, if it has only grown; whether it moved."""
        head = segments.take_head(self._db, name)
        if head is None or head_id is None or head.commit_id == head_id:
            return False
        target = segments.head_at(self._db, head.branch_id, head_id)
        spans = segments.find_spans(self._db, target.segment_id, target.seq)
        if head.commit_id is not None and not any(
            span.segment_id == head.segment_id and span.first <= head.seq <= span.last for span in spans
        ):
            return False
        segments.move(self._db, head.branch_id, head_id)
        return True
