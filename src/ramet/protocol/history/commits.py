"""Requests and replies about commits."""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from ramet.errors import BranchNotFound, CommitNotFound, InvalidParams, NotInHistory, UnknownContentType
from ramet.model.history.content import ContentRole, Priority
from ramet.protocol.fields import Content, Name
from ramet.protocol.operation import Change, Operation, Pages, Request
from ramet.protocol.pages import Limit
from ramet.protocol.replies import Page

BranchName = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9][A-Za-z0-9._/:@+-]*$")]

Hash = Annotated[str, Meta(min_length=4, max_length=64, pattern=r"^[0-9a-f]+$")]

Place = Annotated[str, Meta(min_length=1, max_length=200)]
"""A branch's name, or a commit's hash or its first characters."""

Tokens = Annotated[int, Meta(ge=1, le=2**31 - 1)]

Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class CommitReply(Struct, frozen=True, kw_only=True):
    """The head of a branch after a commit."""

    hash: str
    depth: int
    tokens: int
    branch: str
    redactions: int = 0


class Commit(Change[CommitReply], frozen=True, kw_only=True):
    """Commit a text or a typed content to a branch. The branch is created if it does not exist."""

    op = Operation("history.commit", errors=(InvalidParams, UnknownContentType))

    branch: BranchName
    text: Content | None = None
    content: dict[str, Any] | None = None
    content_type: Name | None = None
    role: ContentRole | None = None
    metadata: dict[str, Any] | None = None
    at: datetime | None = None
    author: Name | None = None
    tokens: Count | None = None
    priority: Priority | None = None
    tags: list[Name] | None = None


class CommitRow(Struct, frozen=True, kw_only=True):
    """A commit, with a preview of its content."""

    hash: str
    parent: str | None
    second_parent: str | None
    depth: int
    content_type: str
    role: str
    operation: Literal["append", "edit"]
    target: str | None
    author: str
    at: datetime
    tokens: int
    reported_tokens: int | None
    priority: Priority
    tags: list[str]
    preview: str
    tool: str | None = None
    """The tool of a call or a result."""
    compresses: list[str] | None = None
    collapses: str | None = None


class Log(Request[Page[CommitRow]], frozen=True, kw_only=True):
    """List the commits of a branch, newest first."""

    op = Operation("history.log", errors=(BranchNotFound, CommitNotFound), ring="chain", is_long=True, pages=Pages())

    branch: BranchName | None = None
    hash: Hash | None = None
    limit: Limit = 50
    cursor: Count | None = None


class CommitDetail(CommitRow, frozen=True, kw_only=True):
    """A commit with its whole content."""

    text: str
    content: dict[str, Any] | None
    metadata: dict[str, Any] | None
    branches: list[str]


class Show(Request[CommitDetail], frozen=True, kw_only=True):
    """Show one commit with its whole content."""

    op = Operation("history.show", errors=(BranchNotFound, CommitNotFound), ring="chain", is_long=True)

    hash: Place


class Pick(Change[CommitReply], frozen=True, kw_only=True):
    """Add a copy of a commit to a branch."""

    op = Operation("history.pick", errors=(BranchNotFound, CommitNotFound))

    branch: BranchName
    hash: Hash


class Edit(Change[CommitReply], frozen=True, kw_only=True):
    """Replace a commit's text. The original commit stays addressable by its hash."""

    op = Operation("history.edit", errors=(BranchNotFound, CommitNotFound, NotInHistory))

    branch: BranchName
    target: Hash
    text: Content


class Annotate(Change[CommitDetail], frozen=True, kw_only=True):
    """Set a commit's priority: skip, normal, important or pinned."""

    op = Operation("history.annotate", errors=(CommitNotFound,))

    hash: Hash
    priority: Priority


class Tag(Change[CommitDetail], frozen=True, kw_only=True):
    """Set a commit's tags."""

    op = Operation("history.tag", errors=(CommitNotFound,))

    hash: Hash
    tags: list[Name]


class RegisteredType(Struct, frozen=True, kw_only=True):
    """A registered content type."""

    idempotency_key: str | None = None
    name: str
    default_role: ContentRole
    default_priority: Priority
    compression_priority: int
    compiles: bool


class RegisterType(Change[RegisteredType], frozen=True, kw_only=True):
    """Register a content type."""

    op = Operation("history.register", errors=(InvalidParams,))

    name: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
    default_role: ContentRole = "user"
    default_priority: Priority = "normal"
    compression_priority: Annotated[int, Meta(ge=0, le=100)] = 50
    compiles: bool = True
