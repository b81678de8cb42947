"""A branch: a named pointer to a commit; what is reachable from it is a history.

Commits lie in segments. A segment is a run of commits with consecutive `seq`, which is also their depth, and it
grows out of one place of another segment. A branch is a segment and the last seq of it that belongs to the branch:
so reading a branch is one range scan per segment, forking is one row whatever the length, and an append in
place extends the segment as long as nobody else has.
"""

from msgspec import Struct

_OF_SESSIONS = "session/"
_DIGITS = 19
"""As many as no id has."""


class Head(Struct, frozen=True):
    """Where a branch stands. An empty branch has no commit and no segment, and seq 0."""

    branch_id: int
    segment_id: int | None
    seq: int
    commit_id: int | None
    commit_hash: bytes | None
    token_sum: int


class Span(Struct, frozen=True):
    """The part of one segment that belongs to a branch: every seq in `first..last`."""

    segment_id: int
    first: int
    last: int


def session_branch(session_id: int) -> str:
    """The name of a session's branch."""
    return f"{_OF_SESSIONS}{session_id}"


def branch_session(branch: str) -> int | None:
    """The session whose branch goes by this name."""
    number = branch.removeprefix(_OF_SESSIONS)
    return int(number) if branch.startswith(_OF_SESSIONS) and number.isdecimal() and len(number) < _DIGITS else None


class Point(Struct, frozen=True):
    """A place in the history: a commit, and where it lies."""

    commit_id: int
    hash: bytes
    segment_id: int
    seq: int
    token_sum: int
