"""Requests and replies about contexts: compile, diff and compress."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from ramet.errors import BranchNotFound, CommitNotFound, InvalidRange, ModelFailed, ModelMissing, NotInHistory
from ramet.protocol.fields import _NO_NUL, Content
from ramet.protocol.history.commits import BranchName, CommitReply, CommitRow, Count, Hash, Place, Tokens
from ramet.protocol.history.drafts import DraftSummary
from ramet.protocol.operation import Change, Operation, Request
from ramet.protocol.pages import Limit, Pages

Format = Literal["text", "openai", "anthropic"]

Cursor = Annotated[str, Meta(min_length=1, max_length=400, pattern=_NO_NUL)]
"""A place in a context, together with the commits that the whole of it was made of."""

CompressMethod = Literal["extract", "model"]


class Window(Struct, frozen=True, forbid_unknown_fields=True):
    """How many messages to keep from the start and from the end of a context. Nothing is deleted."""

    first: Count = 0
    last: Count = 0


class Compiled(Struct, frozen=True, kw_only=True):
    """The messages for a model."""

    messages: list[dict[str, Any]]
    tokens: int
    """Of the whole context, on every page."""
    prefix_hash: str
    """Of the whole context. Only the last page has it; on the others it is empty."""
    omitted: int
    """How many messages were left out because of the token budget or the window."""
    head: str | None
    system: str | None = None
    """The system text, which Anthropic takes separately from the messages. Only the first page has it."""
    is_continuation: bool = False
    """Whether `messages` holds only the messages after `since`."""
    next: str | None = None
    """The cursor of the next page; null on the last one."""


class Compile(Request[Compiled], frozen=True, kw_only=True):
    """Compile a branch into the messages for a model, within a token budget.

    With `limit` the reply is a page of messages. All pages are of the commit that was the head when the first page was
    asked for.
    """

    op = Operation(
        "history.compile",
        errors=(BranchNotFound, CommitNotFound),
        ring="chain",
        is_long=True,
        pages=Pages(items=("messages",), unless="since"),
    )

    branch: BranchName | None = None
    hash: Hash | None = None
    max_tokens: Tokens | None = None
    format: Format = "openai"
    window: Window | None = None
    since: Hash | None = None
    limit: Limit | None = None
    cursor: Cursor | None = None


class DiffReply(Struct, frozen=True, kw_only=True):
    """The differences between two contexts, by commit and by compiled text."""

    base: str | None
    only_a: list[CommitRow]
    """The newest of the commits that only `a` has. On the first page."""
    only_b: list[CommitRow]
    text: str
    """A unified diff of the compiled texts. Its line numbers count from the first message that is compared."""
    shared: int = 0
    """How many messages are equal at the start of both, and are not compared."""
    is_too_large: bool = False
    """Whether the texts were not compared because the parts that differ have more than 8 million tokens."""
    next: str | None = None
    """The cursor of the next page; null on the last one."""


class Diff(Request[DiffReply], frozen=True, kw_only=True):
    """Compare two contexts, by commit and by compiled text.

    With `limit` the reply has that many lines of the text. Lines are compared between messages that both contexts have;
    if there are more than 4,000 lines between two of these, all of them are shown as removed and added.
    """

    op = Operation("history.diff", errors=(BranchNotFound, CommitNotFound), is_long=True)

    a: Place
    b: Place
    limit: Limit | None = None
    cursor: Cursor | None = None


class Compress(Change[CommitReply], frozen=True, kw_only=True):
    """Replace a range of commits with a summary. The originals are kept, and `history.undo` restores them."""

    op = Operation(
        "history.compress",
        errors=(BranchNotFound, CommitNotFound, NotInHistory, InvalidRange, ModelMissing, ModelFailed),
    )

    branch: BranchName
    from_: Hash = field(name="from")
    to: Hash
    text: Content | None = None
    method: CompressMethod = "extract"
    target_tokens: Tokens | None = None

    def needs_model(self) -> bool:
        return self.method == "model" and self.text is None

    def draft(self) -> DraftSummary | None:
        if self.method == "model" or self.text is not None:
            return None
        return DraftSummary(branch=self.branch, first=self.from_, last=self.to, target_tokens=self.target_tokens)
