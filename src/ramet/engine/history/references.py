"""From a request to a place in the history: a branch, or a commit by its hash or the start of it.

A place that the asker cannot reach is refused here (`scopes`).
"""

from ramet.engine import scopes
from ramet.engine.transaction import Transaction
from ramet.errors import BranchNotFound, CommitNotFound, InvalidParams, NotInHistory
from ramet.model.history.branch import Head, Point, Span
from ramet.store.history import commits, segments

_HEX = frozenset("0123456789abcdef")
_SHORTEST = 4


def head(tx: Transaction, branch: str, field: str = "branch") -> Head:
    """The head of a branch, which must exist."""
    scopes.require_branch(tx, branch, field)
    found = segments.find_head(tx.db, branch)
    if found is None:
        raise BranchNotFound(f"there is no branch {branch!r}", field=field, value=branch)
    return found


def taken_head(tx: Transaction, branch: str, field: str = "branch") -> Head:
    """The same, and no other transaction moves the branch until this one ends."""
    scopes.require_branch(tx, branch, field)
    found = segments.take_head(tx.db, branch)
    if found is None:
        raise BranchNotFound(f"there is no branch {branch!r}", field=field, value=branch)
    return found


def head_or_new(tx: Transaction, branch: str) -> Head:
    """The head of a branch to write behind, which no other transaction moves; one that does not exist is empty."""
    scopes.require_branch(tx, branch, "branch")
    found = segments.take_head(tx.db, branch)
    if found is not None:
        return found
    return Head(segments.create_branch(tx.db, branch, None, tx.now_ms), None, 0, None, None, 0)


def commit(tx: Transaction, prefix: str, field: str = "hash") -> Point:
    """The one commit whose hash starts with the prefix; it must exist."""
    found = commits.find_by_prefix(tx.db, prefix)
    if len(found) == 1:
        scopes.require_commit(tx, found[0], field, prefix)
        return found[0]
    if found:
        raise InvalidParams(
            f"several commits start with {prefix}", field=field, value=prefix, fix="give more characters of the hash"
        )
    raise CommitNotFound(f"there is no commit {prefix}", field=field, value=prefix)


def place(tx: Transaction, name: str, field: str) -> Point | None:
    """What a branch's name or a commit's hash points at; None for an empty branch."""
    found = segments.find_head(tx.db, name)
    if found is not None:
        scopes.require_branch(tx, name, field)
        return point_of(found)
    if len(name) >= _SHORTEST and _HEX.issuperset(name):
        return commit(tx, name, field)
    raise BranchNotFound(f"there is no branch or commit {name!r}", field=field, value=name)


def either(tx: Transaction, branch: str | None, commit_hash: str | None) -> Point | None:
    """What the one of the two that is given points at."""
    if (branch is None) == (commit_hash is None):
        raise InvalidParams(
            "give either a branch or a hash",
            field="branch",
            value=branch,
            fix="give branch for its newest commit, or hash for one commit",
        )
    if commit_hash is not None:
        return commit(tx, commit_hash)
    return point_of(head(tx, branch or ""))


def within(tx: Transaction, spans: list[Span], prefix: str, field: str) -> Point:
    """A commit of a branch; one that lies elsewhere is refused."""
    found = commit(tx, prefix, field)
    if not is_within(found, spans):
        raise NotInHistory(f"commit {prefix} is not part of this branch", field=field, value=prefix)
    return found


def is_within(point: Point, spans: list[Span]) -> bool:
    """Whether a commit lies in one of these ranges."""
    return any(span.segment_id == point.segment_id and span.first <= point.seq <= span.last for span in spans)


def spans(tx: Transaction, point: Point | Head | None) -> list[Span]:
    """The ranges of segments that lead to a place."""
    return [] if point is None else segments.find_spans(tx.db, point.segment_id, point.seq)


def point_of(found: Head | None) -> Point | None:
    """The commit that a head points at; None for an empty branch, and for none."""
    if found is None or found.commit_id is None or found.commit_hash is None or found.segment_id is None:
        return None
    return Point(found.commit_id, found.commit_hash, found.segment_id, found.seq, found.token_sum)
