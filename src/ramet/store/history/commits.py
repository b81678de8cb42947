"""What is remembered of commits: where they lie, what they say, how much they matter."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from ramet.model.history.branch import Point, Span
from ramet.model.history.compilation import CommitText
from ramet.model.history.content import BUILTIN_TYPE_HINTS, Priority, TypeHints
from ramet.store.database.blobs import Codec
from ramet.store.database.connection import Connection, Row
from ramet.store.database.queries import Query, QueryFile

_sql = QueryFile("history/commits")

_HASH_BYTES = 32
_LAST = 2**31 - 1
_CLOSE = 4
"""Two seqs that are no farther apart are read with one query."""


class StoredCommit(Struct, frozen=True, kw_only=True):
    """A commit with all that is known of it."""

    id: int
    hash: bytes
    parent: bytes | None
    second_parent: bytes | None
    seq: int
    content_type: str
    role: str
    operation: str
    target: bytes | None
    target_id: int | None
    author: str
    at_ms: int
    tokens: int
    reported_tokens: int | None
    priority: Priority | None
    metadata: dict[str, Any] | None
    text: str
    content_hash: bytes
    blob_id: int


def find(db: Connection, commit_hash: bytes) -> Point | None:
    """A commit by its whole hash."""
    row = db.one(_sql.by_hash, hash=commit_hash)
    return None if row is None else Point(*row)


def find_by_id(db: Connection, commit_id: int) -> Point | None:
    """A commit by its id."""
    row = db.one(_sql.by_id, id=commit_id)
    return None if row is None else Point(*row)


def find_by_prefix(db: Connection, prefix: str) -> list[Point]:
    """The commits whose hash begins so, two at most."""
    low = bytes.fromhex(prefix.ljust(2 * _HASH_BYTES, "0"))
    high = bytes.fromhex(prefix.ljust(2 * _HASH_BYTES, "f"))
    return [Point(*row) for row in db.all(_sql.by_prefix, low=low, high=high)]


def find_head(db: Connection, branch: str) -> Point | None:
    """The commit that a branch points at."""
    row = db.one(_sql.of_branch, name=branch)
    return None if row is None else Point(*row)


def find_at(db: Connection, segment_id: int, seq: int) -> Point | None:
    """The commit at one place of a segment."""
    row = db.one(_sql.at_place, segment_id=segment_id, seq=seq)
    return None if row is None else Point(*row)


def find_newest_until(db: Connection, spans: list[Span], until_ms: int) -> Point | None:
    """The newest commit of the spans that was there at an instant."""
    for span in reversed(spans):
        row = db.one(_sql.newest_until, segment_id=span.segment_id, first=span.first, last=span.last, until_ms=until_ms)
        if row is not None:
            return Point(*row)
    return None


def find_newest_of_type(db: Connection, spans: list[Span], content_type: str) -> Point | None:
    """The newest commit of a kind in the spans; edits do not count."""
    for span in reversed(spans):
        row = db.one(
            _sql.newest_of_type,
            segment_id=span.segment_id,
            first=span.first,
            last=span.last,
            content_type=content_type,
        )
        if row is not None:
            return Point(*row)
    return None


def find_newest_edit(db: Connection, spans: list[Span], target: Point) -> Point | None:
    """The newest edit of a commit in the spans that lead on from it."""
    for span in reversed(spans):
        first = max(span.first, target.seq + 1)
        row = db.one(
            _sql.newest_edit, segment_id=span.segment_id, first=first, last=span.last, target_id=target.commit_id
        )
        if row is not None:
            return Point(*row)
    return None


def has_merge(db: Connection, spans: list[Span], first: int, last: int) -> bool:
    """Whether a merge lies between two places."""
    return any(
        db.one(_sql.merges, segment_id=span.segment_id, first=max(first, span.first), last=min(last, span.last))
        is not None
        for span in spans
    )


def read_texts(db: Connection, codec: Codec, spans: list[Span], after: int = 0) -> list[CommitText]:
    """What compiling needs of everything in the spans behind a seq, oldest first."""
    return [
        CommitText(codec.unpack_text(kind, size, data), *facts)
        for span in spans
        if span.last > after
        for *facts, kind, size, data in db.all(
            _sql.range, segment_id=span.segment_id, first=max(span.first, after + 1), last=span.last
        )
    ]


def read_facts(db: Connection, spans: list[Span], first: int, last: int) -> list[CommitText]:
    """What compiling needs of the commits from one seq to another, without texts and annotations, oldest first."""
    return [
        CommitText("", commit_id, b"", seq, content_type, role, target_id, tokens, metadata, None)
        for commit_id, seq, content_type, role, target_id, tokens, metadata in _within(
            db, _sql.facts, spans, first, last
        )
    ]


def list_special(db: Connection, spans: list[Span], after: int = 0) -> list[CommitText]:
    """The special commits of the spans behind a seq (see `model.history.outline`), without texts, oldest first."""
    found = [
        CommitText("", commit_id, b"", *facts)
        for query in (_sql.special, _sql.annotated)
        for commit_id, *facts in _within(db, query, spans, after + 1, _LAST)
    ]
    return sorted(found, key=lambda commit: commit.seq)


def read_texts_at(db: Connection, codec: Codec, spans: list[Span], seqs: Iterable[int]) -> dict[int, tuple[str, bytes]]:
    """The texts at some seqs, and their hashes."""
    wanted = set(seqs)
    return {
        seq: (codec.unpack_text(kind, size, data), content_hash)
        for first, last in _runs(wanted)
        for seq, content_hash, kind, size, data in _within(db, _sql.texts, spans, first, last)
        if seq in wanted
    }


def read_hashes_at(db: Connection, spans: list[Span], seqs: Iterable[int]) -> dict[int, bytes]:
    """The hashes of the texts at some seqs."""
    return {
        seq: content_hash
        for first, last in _runs(set(seqs))
        for seq, content_hash in _within(db, _sql.hashes, spans, first, last)
    }


def sum_tokens(db: Connection, spans: list[Span], first: int, last: int) -> int:
    """How many tokens the commits from one seq to another have."""
    return sum(int(row[0]) for row in _within(db, _sql.tokens, spans, first, last))


def find_tokens(db: Connection, commit_id: int) -> tuple[int, int, int] | None:
    """The segment, the seq and the tokens of a commit."""
    row = db.one(_sql.tokens_of, id=commit_id)
    return None if row is None else (row[0], row[1], row[2])


def _within(db: Connection, query: Query, spans: list[Span], first: int, last: int) -> Iterator[Row]:
    """The rows of a query for the part of each span that lies between two seqs."""
    for span in spans:
        if span.first <= last and first <= span.last:
            yield from db.all(
                query, segment_id=span.segment_id, first=max(span.first, first), last=min(span.last, last)
            )


def _runs(seqs: Collection[int]) -> Iterator[tuple[int, int]]:
    """Seqs in as few ranges as is worth while: to read a few commits more costs less than another query."""
    ordered = sorted(seqs)
    begins = 0
    for place, seq in enumerate(ordered):
        if place + 1 == len(ordered) or ordered[place + 1] > seq + _CLOSE:
            yield ordered[begins], seq
            begins = place + 1


def read_newest(
    db: Connection, codec: Codec, spans: list[Span], *, limit: int, before: int | None = None, after: int = 0
) -> Iterator[StoredCommit]:
    """Commits of the spans, the newest first, below one seq and above another."""
    left = limit
    for span in reversed(spans):
        first = max(span.first, after + 1)
        last = span.last if before is None else min(span.last, before - 1)
        if left <= 0 or last < first:
            continue
        rows = db.all(_sql.rows, segment_id=span.segment_id, first=first, last=last, limit=left)
        left -= len(rows)
        yield from (_stored(codec, row) for row in rows)


def read_one(db: Connection, codec: Codec, point: Point) -> StoredCommit:
    """One commit."""
    row = db.must(_sql.rows, segment_id=point.segment_id, first=point.seq, last=point.seq, limit=1)
    return _stored(codec, row)


def _stored(codec: Codec, row: Row) -> StoredCommit:
    *facts, metadata, kind, size, data, blob_id, content_hash, target_id = row
    commit_id, commit_hash, parent, second, seq, content_type, role, operation, target, author, at_ms, *counts = facts
    tokens, reported_tokens, priority = counts
    return StoredCommit(
        id=commit_id,
        hash=commit_hash,
        parent=parent,
        second_parent=second,
        seq=seq,
        content_type=content_type,
        role=role,
        operation=operation,
        target=target,
        target_id=target_id,
        author=author,
        at_ms=at_ms,
        tokens=tokens,
        reported_tokens=reported_tokens,
        priority=priority,
        metadata=None if metadata is None else msgspec.json.decode(metadata),
        text=codec.unpack_text(kind, size, data),
        content_hash=content_hash,
        blob_id=blob_id,
    )


def list_tags(db: Connection, commit_id: int) -> list[str]:
    """A commit's tags."""
    return [row[0] for row in db.all(_sql.tags, commit_id=commit_id)]


def list_tagged(db: Connection, tags: Iterable[str]) -> set[int]:
    """The commits of all histories that have one of these tags."""
    return {row[0] for tag in tags for row in db.all(_sql.tagged, tag=tag)}


def set_tags(db: Connection, commit_id: int, tags: list[str]) -> None:
    """Replace a commit's tags."""
    db.run(_sql.clear_tags, commit_id=commit_id)
    for tag in tags:
        db.run(_sql.set_tag, commit_id=commit_id, tag=tag)


def annotate(db: Connection, commit_id: int, priority: Priority) -> None:
    """Say how much a commit matters."""
    db.run(_sql.annotate, commit_id=commit_id, priority=priority)
    revise(db)


def revise(db: Connection) -> None:
    """Say that what was compiled before may be wrong."""
    db.run(_sql.revise)


def find_revision(db: Connection) -> int:
    """A number that grows with every annotation and collection, and never falls."""
    return int(db.must(_sql.revision)[0])


def list_branches_at(db: Connection, commit_id: int) -> list[str]:
    """The branches that point at a commit."""
    return [row[0] for row in db.all(_sql.branches_at, commit_id=commit_id)]


def type_hints(db: Connection) -> dict[str, TypeHints]:
    """Every kind of content, the registered ones among them."""
    registered = {
        name: TypeHints(
            default_role=role, default_priority=priority, compression_priority=compression, compiles=bool(compiles)
        )
        for name, role, priority, compression, compiles in db.all(_sql.content_types)
    }
    return registered | BUILTIN_TYPE_HINTS


def register_type(db: Connection, name: str, hints: TypeHints) -> None:
    """Register a kind of content, or change it."""
    db.run(
        _sql.register_type,
        name=name,
        default_role=hints.default_role,
        default_priority=hints.default_priority,
        compression_priority=hints.compression_priority,
        compiles=int(hints.compiles),
    )
