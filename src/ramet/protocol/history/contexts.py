"""Requests and replies about contexts: compile, diff and compress."""

from typing import Any, Literal

from msgspec import Struct, field

from ramet.errors import BranchNotFound, CommitNotFound, InvalidRange, ModelFailed, ModelMissing, NotInHistory
from ramet.protocol.fields import Content, Name
from ramet.protocol.history.commits import BranchName, CommitReply, CommitRow, Count, Hash, Place, Tokens
from ramet.protocol.operation import Change, Operation, Request

Format = Literal["text", "openai", "anthropic"]

CompressMethod = Literal["extract", "model"]


class Window(Struct, frozen=True, forbid_unknown_fields=True):
    """How many messages to keep from the start and from the end of a context. Nothing is deleted."""

    first: Count = 0
    last: Count = 0


class Filter(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which of its parent's commits a selective child inherits."""

    types: list[Name] | None = None
    tags: list[Name] | None = None
    last_turns: Count | None = None


class Compiled(Struct, frozen=True, kw_only=True):
    """The messages for a model."""

    messages: list[dict[str, Any]]
    tokens: int
    prefix_hash: str
    omitted: int
    """How many messages were left out because of the token budget or the window."""
    head: str | None
    system: str | None = None
    """The system text, which Anthropic takes separately from the messages."""
    is_continuation: bool = False
    """Whether `messages` holds only the messages after `since`."""


class Compile(Request[Compiled], frozen=True, kw_only=True):
    """Compile a branch into the messages for a model, within a token budget."""

    op = Operation("history.compile", errors=(BranchNotFound, CommitNotFound), ring="chain", is_long=True)

    branch: BranchName | None = None
    hash: Hash | None = None
    max_tokens: Tokens | None = None
    format: Format = "openai"
    window: Window | None = None
    since: Hash | None = None


class DiffReply(Struct, frozen=True, kw_only=True):
    """The differences between two contexts, by commit and by compiled text."""

    base: str | None
    only_a: list[CommitRow]
    only_b: list[CommitRow]
    text: str


class Diff(Request[DiffReply], frozen=True, kw_only=True):
    """Compare two contexts, by commit and by compiled text."""

    op = Operation("history.diff", errors=(BranchNotFound, CommitNotFound), is_long=True)

    a: Place
    b: Place


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
