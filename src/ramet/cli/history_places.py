"""Where a reference points in the history: a branch, a commit's hash or the beginning of it, or `main~2`.

`main~2` is the commit two before the head of main. A branch's name cannot have a `~`, so the two never mix.
"""

from typing import NamedTuple

from ramet.cli import references
from ramet.cli.invocation import Invocation
from ramet.errors import CommitNotFound
from ramet.protocol.history.branches import ListBranches
from ramet.protocol.history.commits import CommitRow, Log


class Start(NamedTuple):
    """Where to read from: one of the two."""

    branch: str | None = None
    hash: str | None = None


def find_commit(invocation: Invocation, reference: str) -> str:
    """The hash, or the beginning of it, of the commit that is meant; of a branch it is the head."""
    if references.is_hash(reference):
        return reference
    branch, _, back = reference.partition("~")
    head = _newest(invocation, branch)
    depth = head.depth - int(back or ("1" if reference.endswith("~") else "0"))
    if depth < 1:
        raise CommitNotFound(f"{branch} has only {head.depth} commits", field="hash", value=reference)
    return _newest(invocation, branch, cursor=depth + 1).hash


def find_place(invocation: Invocation, reference: str) -> str:
    """The same, but a branch stays a branch."""
    return find_commit(invocation, reference) if "~" in reference else reference


def find_start(invocation: Invocation, reference: str) -> Start:
    """Where to read from: a branch where there is one of that name, else a commit."""
    place = find_place(invocation, reference)
    if not references.is_hash(place) or _is_branch(invocation, place):
        return Start(branch=place)
    return Start(hash=place)


def _newest(invocation: Invocation, branch: str, cursor: int | None = None) -> CommitRow:
    rows = invocation.ask(Log(branch=branch, limit=1, cursor=cursor)).items
    if not rows:
        raise CommitNotFound(f"{branch} has no commits", field="hash", value=branch)
    return rows[0]


def _is_branch(invocation: Invocation, name: str) -> bool:
    return any(row.name == name for row in invocation.ask(ListBranches(prefix=name)).items)
