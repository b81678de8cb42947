"""What is read of a history before a change, beside the writer: a long history takes long to read.

The daemon asks for it (`Request.draft`) and passes the reply on with the change, which uses it if the history still is
what was read.
"""

from msgspec import Struct

from ramet.errors import BranchNotFound, CommitNotFound, InvalidRange, NotInHistory, SpawnError
from ramet.protocol.history.commits import BranchName, Hash, Place, Tokens
from ramet.protocol.history.inheritance import Filter, Inheritance
from ramet.protocol.operation import Operation, Request


class ReadState(Struct, frozen=True, kw_only=True):
    """The state of the history that was read."""

    head: str
    revision: int


class SummaryDraft(ReadState, frozen=True, kw_only=True):
    """An extracted summary, and the depths of the first and the last commit that it replaces."""

    text: str
    first: int
    last: int


class DraftSummary(Request[SummaryDraft], frozen=True, kw_only=True):
    """Extract a summary from a range of commits, for `history.compress`."""

    op = Operation(
        "history.draftSummary",
        errors=(BranchNotFound, CommitNotFound, NotInHistory, InvalidRange),
        audience="internal",
        is_long=True,
    )

    branch: BranchName
    first: Hash
    last: Hash
    target_tokens: Tokens | None = None


class InheritanceDraft(ReadState, frozen=True, kw_only=True):
    """What a child branch inherits: a snapshot of its parent, or commits that are copied, in order."""

    snapshot: str | None = None
    commit_ids: list[int] = []


class DraftInheritance(Request[InheritanceDraft | None], frozen=True, kw_only=True):
    """Read what a child branch inherits, for `history.spawn`."""

    op = Operation(
        "history.draftInheritance",
        errors=(BranchNotFound, CommitNotFound, SpawnError),
        audience="internal",
        is_long=True,
    )

    parent: Place
    inherit: Inheritance = "head_snapshot"
    filter: Filter | None = None
    max_tokens: Tokens | None = None
