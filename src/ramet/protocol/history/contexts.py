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
    """A view of the beginning and the end: so many messages of each. Nothing is deleted."""

    first: Count = 0
    last: Count = 0


class Filter(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which of the parent's commits a selective child inherits."""

    types: list[Name] | None = None
    tags: list[Name] | None = None
    last_turns: Count | None = None


class Compiled(Struct, frozen=True, kw_only=True):
    """What a model is given."""

    messages: list[dict[str, Any]]
    tokens: int
    prefix_hash: str
    omitted: int
    """How many messages the budget or the window left out."""
    head: str | None
    system: str | None = None
    """The system text, which Anthropic takes apart from the messages."""
    is_continuation: bool = False
    """Whether `messages` only holds what came after `since`."""


class Compile(Request[Compiled], frozen=True, kw_only=True):
    """A branch as the messages that a model is given, within a budget."""

    op = Operation("history.compile", errors=(BranchNotFound, CommitNotFound), scope="session")

    branch: BranchName | None = None
    hash: Hash | None = None
    max_tokens: Tokens | None = None
    format: Format = "openai"
    window: Window | None = None
    since: Hash | None = None


class DiffReply(Struct, frozen=True, kw_only=True):
    """How two contexts differ: by commit, and by what a model would read."""

    base: str | None
    only_a: list[CommitRow]
    only_b: list[CommitRow]
    text: str


class Diff(Request[DiffReply], frozen=True, kw_only=True):
    """How two contexts differ, by commit and by compiled text."""

    op = Operation("history.diff", errors=(BranchNotFound, CommitNotFound))

    a: Place
    b: Place


class Compress(Change[CommitReply], frozen=True, kw_only=True):
    """Put a summary in the place of a range; the originals stay, and `undo` brings them back."""

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
