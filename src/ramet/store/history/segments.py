"""What is remembered of histories: contents, commits in segments, and branches that point at them."""

from typing import Any

from msgspec import Struct

from ramet.model.history.branch import Head, Span
from ramet.model.history.commit import CommitFacts, canonical_json, hash_commit
from ramet.store.database.blobs import Blob
from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile

_sql = QueryFile("history/segments")


class Committed(Struct, frozen=True):
    """A commit in its place."""

    id: int
    hash: bytes
    seq: int
    segment_id: int
    token_sum: int

    def as_head(self, branch_id: int) -> Head:
        """Where a branch stands that points at it."""
        return Head(branch_id, self.segment_id, self.seq, self.id, self.hash, self.token_sum)


class NewCommit(Struct, frozen=True, kw_only=True):
    """A commit about to be put behind the head of a branch."""

    facts: CommitFacts
    blob: Blob | int
    """The content, or the id of one that is kept already."""
    tokens: int
    reported_tokens: int | None = None
    target_id: int | None = None
    second_parent_id: int | None = None
    hash: bytes | None = None
    """Its name, if something that its hash covers was purged; None if its facts say it."""


def create_branch(db: Connection, name: str, commit_id: int | None, now_ms: int) -> int:
    """A new branch at a commit, or empty. It copies nothing, however long the history."""
    return int(db.must(_sql.create_branch, name=name, commit_id=commit_id, now_ms=now_ms)[0])


def find_head(db: Connection, branch: str) -> Head | None:
    """Where a branch stands."""
    row = db.one(_sql.head, name=branch)
    return None if row is None else Head(*row)


def take_head(db: Connection, branch: str) -> Head | None:
    """The same, and nobody else moves the branch until this transaction ends."""
    db.run(_sql.take_branch, name=branch)
    return find_head(db, branch)


def head_at(db: Connection, branch_id: int, commit_id: int) -> Head:
    """A branch as it stands at a commit that was just put on it."""
    return Head(*db.must(_sql.head_at, branch_id=branch_id, commit_id=commit_id))


def append(db: Connection, head: Head, new: NewCommit, now_ms: int) -> Committed:
    """Put a commit behind the head of a branch and move the branch to it."""
    committed = put(db, head, new, now_ms)
    move(db, head.branch_id, committed.id)
    return committed


def put(db: Connection, head: Head, new: NewCommit, now_ms: int) -> Committed:
    """Put a commit behind a head. The branch stays where it is until it is moved, so that several commits cost one
    move.

    The very same commit may be there already, made on another branch with the same past. Where another branch has
    grown the segment at this place, a new segment begins here.
    """
    commit_hash, blob_id = new.hash or hash_commit(new.facts), put_blob(db, new.blob)
    row = _row(head, new, commit_hash, blob_id, now_ms)
    if head.segment_id is not None:
        inserted = db.one(_sql.insert_commit, **row, segment_id=head.segment_id)
        if inserted is not None:
            return Committed(inserted[0], commit_hash, row["seq"], head.segment_id, row["token_sum"])
    known = db.one(_sql.known_commit, hash=commit_hash)
    if known is not None:
        return Committed(known[0], commit_hash, row["seq"], *known[1:])
    segment_id = _fork(db, head)
    inserted = db.must(_sql.insert_commit, **row, segment_id=segment_id)
    return Committed(inserted[0], commit_hash, row["seq"], segment_id, row["token_sum"])


def _row(head: Head, new: NewCommit, commit_hash: bytes, blob_id: int, now_ms: int) -> dict[str, Any]:
    facts = new.facts
    return {
        "hash": commit_hash,
        "seq": head.seq + 1,
        "parent_id": head.commit_id,
        "second_parent_id": new.second_parent_id,
        "blob_id": blob_id,
        "content_type": facts.content_type,
        "role": facts.role,
        "operation": facts.operation,
        "target_id": new.target_id,
        "author": facts.author,
        "at_ms": facts.at_ms,
        "now_ms": now_ms,
        "tokens": new.tokens,
        "token_sum": head.token_sum + new.tokens,
        "reported_tokens": new.reported_tokens,
        "metadata": canonical_json(facts.metadata).decode() if facts.metadata else None,
    }


def _fork(db: Connection, head: Head) -> int:
    """A new segment that grows out of where the branch stands."""
    return int(db.must(_sql.create_segment, base_segment_id=head.segment_id, base_seq=head.seq)[0])


def put_blob(db: Connection, blob: Blob | int) -> int:
    """Keep a content once, and give its id."""
    if isinstance(blob, int):
        return blob
    row = db.one(_sql.put_blob, hash=blob.hash, codec=blob.codec, size=blob.size, data=blob.data)
    return int(row[0] if row is not None else db.must(_sql.blob_id, hash=blob.hash)[0])


def move(db: Connection, branch_id: int, commit_id: int | None) -> None:
    """Let a branch point at a commit, or at nothing."""
    db.run(_sql.move_branch, branch_id=branch_id, commit_id=commit_id)


def find_spans(db: Connection, segment_id: int | None, seq: int) -> list[Span]:
    """The ranges of segments that lead to a place, oldest first: one step per fork, never one per commit."""
    spans: list[Span] = []
    last = seq
    while segment_id is not None:
        base_segment_id, base_seq = db.must(_sql.base, segment_id=segment_id)
        spans.append(Span(segment_id, base_seq + 1, last))
        segment_id, last = base_segment_id, base_seq
    return spans[::-1]
