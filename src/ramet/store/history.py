"""What is remembered of histories: contents, commits in segments, and branches that point at them."""

from msgspec import Struct

from ramet.model.branch import Head, Span
from ramet.model.commit import CommitFacts, canonical_json, hash_commit
from ramet.store.blobs import Blob
from ramet.store.connection import Connection
from ramet.store.queries import QueryFile

_sql = QueryFile("history")


class Committed(Struct, frozen=True):
    """A commit that a branch now points at."""

    id: int
    hash: bytes
    seq: int


class _NewCommit(Struct, frozen=True):
    """A commit about to be written behind a head."""

    hash: bytes
    head: Head
    facts: CommitFacts
    blob_id: int
    tokens: int
    now_ms: int


def create_branch(db: Connection, name: str, commit_id: int | None, now_ms: int) -> int:
    """A new branch at a commit, or empty. It copies nothing, however long the history."""
    return int(db.must(_sql.create_branch, name=name, commit_id=commit_id, now_ms=now_ms)[0])


def find_head(db: Connection, branch: str) -> Head | None:
    """Where a branch stands."""
    row = db.one(_sql.head, name=branch)
    return None if row is None else Head(*row)


def append(db: Connection, head: Head, facts: CommitFacts, blob: Blob, *, tokens: int, now_ms: int) -> Committed:
    """Put a commit behind the head of a branch and move the branch to it.

    The very same commit may be there already, made on another branch with the same past: then the branch only
    moves. Where another branch has grown the segment at this place, a new segment begins here.
    """
    new = _NewCommit(hash_commit(facts), head, facts, put_blob(db, blob), tokens, now_ms)
    segment_id = _fork(db, head) if head.segment_id is None else head.segment_id
    commit_id = _insert(db, new, segment_id)
    if commit_id is None:
        known = db.one(_sql.commit_id, hash=new.hash)
        commit_id = known[0] if known is not None else _insert(db, new, _fork(db, head))
    if commit_id is None:
        raise LookupError(f"a fresh segment has no room for commit {new.hash.hex()}")
    db.run(_sql.move_branch, branch_id=head.branch_id, commit_id=commit_id)
    return Committed(commit_id, new.hash, head.seq + 1)


def _insert(db: Connection, new: _NewCommit, segment_id: int) -> int | None:
    """The id of the new commit; None where it is known already, or another has its place in the segment."""
    facts, head = new.facts, new.head
    row = db.one(
        _sql.insert_commit,
        hash=new.hash,
        segment_id=segment_id,
        seq=head.seq + 1,
        parent_id=head.commit_id,
        blob_id=new.blob_id,
        content_type=facts.content_type,
        role=facts.role,
        author=facts.author,
        at_ms=facts.at_ms,
        now_ms=new.now_ms,
        tokens=new.tokens,
        token_sum=head.token_sum + new.tokens,
        metadata=canonical_json(facts.metadata).decode() if facts.metadata else None,
    )
    return None if row is None else int(row[0])


def _fork(db: Connection, head: Head) -> int:
    """A new segment that grows out of where the branch stands."""
    return int(db.must(_sql.create_segment, base_segment_id=head.segment_id, base_seq=head.seq)[0])


def put_blob(db: Connection, blob: Blob) -> int:
    """Keep a content once, and give its id."""
    row = db.one(_sql.put_blob, hash=blob.hash, codec=blob.codec, size=blob.size, data=blob.data)
    return int(row[0] if row is not None else db.must(_sql.blob_id, hash=blob.hash)[0])


def find_spans(db: Connection, head: Head) -> list[Span]:
    """The ranges of segments that make up a branch, oldest first: one step per fork, never one per commit."""
    spans: list[Span] = []
    segment_id, last = head.segment_id, head.seq
    while segment_id is not None:
        base_segment_id, base_seq = db.must(_sql.base, segment_id=segment_id)
        spans.append(Span(segment_id, base_seq + 1, last))
        segment_id, last = base_segment_id, base_seq
    return spans[::-1]
