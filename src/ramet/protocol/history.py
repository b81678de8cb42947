"""The requests and replies of `history.*`: version control for what an agent knows."""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from ramet.model.history.content import ContentRole, Priority
from ramet.protocol.requests import Change, Content, Name, Request, Text

BranchName = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9][A-Za-z0-9._/:@+-]*$")]
Hash = Annotated[str, Meta(min_length=4, max_length=64, pattern=r"^[0-9a-f]+$")]
Place = Annotated[str, Meta(min_length=1, max_length=200)]
"""A branch's name, or a commit's hash or the beginning of it."""
Tokens = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Inheritance = Literal["full_clone", "head_snapshot", "selective"]
Format = Literal["text", "openai", "anthropic"]
Strategy = Literal["ours", "theirs", "both"]
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


class Report(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a child reports to its parent."""

    summary: Content
    decisions: list[Content] = []
    failed_approaches: list[Content] = []
    artifacts: list[Content] = []
    next_steps: list[Content] = []


class Commit(Change, frozen=True, kw_only=True):
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


class Log(Request, frozen=True, kw_only=True):
    branch: BranchName | None = None
    hash: Hash | None = None
    limit: Annotated[int, Meta(ge=1, le=2**31 - 1)] = 50
    cursor: Count | None = None


class Show(Request, frozen=True, kw_only=True):
    hash: Place


class Compile(Request, frozen=True, kw_only=True):
    branch: BranchName | None = None
    hash: Hash | None = None
    max_tokens: Tokens | None = None
    format: Format = "openai"
    window: Window | None = None
    since: Hash | None = None


class CreateBranch(Change, frozen=True, kw_only=True):
    name: BranchName
    from_: Place | None = field(name="from", default=None)


class ListBranches(Request, frozen=True, kw_only=True):
    prefix: Text | None = None


class DeleteBranch(Change, frozen=True, kw_only=True):
    branch: BranchName


class Reset(Change, frozen=True, kw_only=True):
    branch: BranchName
    to: Place


class Undo(Change, frozen=True, kw_only=True):
    branch: BranchName
    steps: Annotated[int, Meta(ge=1, le=1000)] = 1


class ListMoves(Request, frozen=True, kw_only=True):
    branch: BranchName
    limit: Annotated[int, Meta(ge=1, le=2**31 - 1)] = 100


class Diff(Request, frozen=True, kw_only=True):
    a: Place
    b: Place


class Merge(Change, frozen=True, kw_only=True):
    into: BranchName
    from_: Place = field(name="from")
    strategy: Strategy | None = None
    resolutions: dict[str, Content] | None = None


class Pick(Change, frozen=True, kw_only=True):
    branch: BranchName
    hash: Hash


class Edit(Change, frozen=True, kw_only=True):
    branch: BranchName
    target: Hash
    text: Content


class Annotate(Change, frozen=True, kw_only=True):
    hash: Hash
    priority: Priority


class Tag(Change, frozen=True, kw_only=True):
    hash: Hash
    tags: list[Name]


class Compress(Change, frozen=True, kw_only=True):
    branch: BranchName
    from_: Hash = field(name="from")
    to: Hash
    text: Content | None = None
    method: CompressMethod = "extract"
    target_tokens: Tokens | None = None


class At(Request, frozen=True, kw_only=True):
    branch: BranchName
    time: datetime | None = None
    hash: Hash | None = None


class RegisterType(Change, frozen=True, kw_only=True):
    name: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
    default_role: ContentRole = "user"
    default_priority: Priority = "normal"
    compression_priority: Annotated[int, Meta(ge=0, le=100)] = 50
    compiles: bool = True


class Spawn(Change, frozen=True, kw_only=True):
    parent: BranchName
    child: BranchName
    purpose: Content
    inherit: Inheritance = "head_snapshot"
    filter: Filter | None = None
    max_tokens: Tokens | None = None
    display_name: Annotated[str, Meta(max_length=255)] | None = None


class Collapse(Change, frozen=True, kw_only=True):
    child: BranchName
    text: Content | None = None
    report: Report | None = None
    method: Literal["model"] | None = None
    target_tokens: Tokens | None = None
    instructions: Text | None = None
    auto_commit: bool = True


class Expand(Request, frozen=True, kw_only=True):
    hash: Place


class Spawns(Request, frozen=True, kw_only=True):
    branch: BranchName


class ResumeLatest(Request, frozen=True, kw_only=True):
    prefix: Text | None = None


class CollectGarbage(Change, frozen=True, kw_only=True):
    retention_days: Annotated[int, Meta(ge=0, le=36_500)] = 7


class CheckHistory(Request, frozen=True, kw_only=True):
    pass


class CommitReply(Struct, frozen=True, kw_only=True):
    """Where a branch stands after something was committed to it."""

    hash: str
    depth: int
    tokens: int
    branch: str
    redactions: int = 0


class CommitRow(Struct, frozen=True, kw_only=True):
    """A commit as `history.log` shows it."""

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
    """Which tool was called, or has answered."""
    compresses: list[str] | None = None
    collapses: str | None = None


class CommitDetail(CommitRow, frozen=True, kw_only=True):
    """A commit with all that it says."""

    text: str
    content: dict[str, Any] | None
    metadata: dict[str, Any] | None
    branches: list[str]


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


class BranchRow(Struct, frozen=True, kw_only=True):
    """A branch and where it stands."""

    name: str
    hash: str | None
    depth: int
    tokens: int
    created_at: datetime
    parent: str | None = None


class MoveRow(Struct, frozen=True, kw_only=True):
    """A move of a branch that was not a plain append."""

    id: int
    branch: str
    old: str | None
    new: str | None
    why: str
    at: datetime
    undone: bool


class DiffReply(Struct, frozen=True, kw_only=True):
    """How two contexts differ: by commit, and by what a model would read."""

    base: str | None
    only_a: list[CommitRow]
    only_b: list[CommitRow]
    text: str


class Conflict(Struct, frozen=True, kw_only=True):
    """Something that two histories say differently."""

    target: str
    kind: Literal["edit", "priority"]
    base: str | None
    ours: str
    theirs: str


class MergeReply(Struct, frozen=True, kw_only=True):
    """The commit that joins two histories, or what has to be decided first."""

    hash: str | None
    conflicts: list[Conflict]
    merged: int = 0


class SpawnRow(Struct, frozen=True, kw_only=True):
    """A child history and where it comes from."""

    spawn_id: int
    parent: str
    parent_commit: str | None
    child: str
    purpose: str
    inheritance_mode: Inheritance
    display_name: str | None
    created_at: datetime
    collapses: list[str] = []


class SpawnTree(Struct, frozen=True, kw_only=True):
    """What is known of a history's relatives."""

    parent: SpawnRow | None
    ancestors: list[str]
    children: list[SpawnRow]


class CollapseReply(Struct, frozen=True, kw_only=True):
    """A child's work in its parent's history, or for review where nothing was committed."""

    parent_commit_hash: str | None
    child: str
    summary_text: str
    summary_tokens: int
    source_tokens: int
    purpose: str


class Expanded(Struct, frozen=True, kw_only=True):
    """What stands behind a commit that stands for others."""

    hash: str
    kind: Literal["collapse", "compression"]
    branch: str | None
    head: str | None
    commits: list[CommitRow]


class Latest(Struct, frozen=True, kw_only=True):
    """The newest history that was not brought to its end."""

    branch: str | None
    hash: str | None
    boundary: dict[str, Any] | None


class Collected(Struct, frozen=True, kw_only=True):
    """What nothing reached any more."""

    commits: int
    blobs: int
    segments: int
