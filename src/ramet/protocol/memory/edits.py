"""Requests and replies about recorded edits. They are Ramet's own: `memory.why` asks them."""

from typing import Annotated

from msgspec import Meta, Struct

from ramet.errors import EffortNotFound, InvalidParams, SessionNotFound
from ramet.model.memory.edit import EditKind, EditMaker, EditOrigin, RecordedEdit
from ramet.protocol.fields import Id, Path
from ramet.protocol.operation import Change, Operation, Request

Count = Annotated[int, Meta(ge=1, le=1000)]
MOST_PATHS = 200
MOST_EDITS = 2000


class Unread(Struct, frozen=True, kw_only=True):
    """A session with calls that were not read for edits."""

    session_id: int
    effort_id: int
    driver: str
    is_open: bool
    last_message_id: int
    worktree: str | None
    workspace: str | None


class UnreadSessions(Struct, frozen=True, kw_only=True):
    """The sessions with calls that were not read for edits."""

    items: list[Unread]


class ListUnread(Request[UnreadSessions], frozen=True, kw_only=True):
    """List the sessions of a project whose calls were not read for edits yet."""

    op = Operation("memory.edits.unread", audience="internal", is_long=True)

    project_id: Id
    limit: Count = 100


class Call(Struct, frozen=True, kw_only=True):
    """A tool call, with its result if that is known."""

    message_id: int
    call_id: str | None
    """The program's own name for it."""
    tool: str
    given: str
    at_ms: int
    """When its result came."""
    result: str | None
    is_error: bool


class Calls(Struct, frozen=True, kw_only=True):
    """Tool calls in their order."""

    items: list[Call]


class ListCalls(Request[Calls], frozen=True, kw_only=True):
    """List the tool calls of a session from a message on, with their results."""

    op = Operation("memory.edits.calls", errors=(SessionNotFound,), audience="internal", is_long=True)

    session_id: Id
    after: Annotated[int, Meta(ge=0)] = 0
    limit: Count = 200


class NewEdit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a call or a commit added to a file."""

    kind: EditKind
    path: Path
    at_ms: int
    lines: bytes
    part: Annotated[int, Meta(ge=0)] = 0
    message_id: Id | None = None
    git_commit: str | None = None
    origin: str | None = None
    is_certain: bool = True


class RecordedCount(Struct, frozen=True, kw_only=True):
    """How many edits were taken."""

    edits: int


class RecordEdits(Change[RecordedCount], frozen=True, kw_only=True):
    """Record edits of an effort, and how far its session was read. Edits that are recorded stay as they are."""

    op = Operation("memory.edits.record", errors=(EffortNotFound, SessionNotFound, InvalidParams), audience="internal")

    effort_id: Id
    session_id: Id | None = None
    last_message_id: Id | None = None
    edits: Annotated[list[NewEdit], Meta(max_length=MOST_EDITS)] = []


class FoundEdits(Struct, frozen=True, kw_only=True):
    """The edits of some files, and the efforts that made them."""

    edits: list[RecordedEdit]
    makers: list[EditMaker]
    commits: dict[str, int]
    """The efforts whose commits are among those asked for, by the hashes of these."""


class FindEdits(Request[FoundEdits], frozen=True, kw_only=True):
    """Find the recorded edits of some files of a project, and which commits are those of efforts."""

    op = Operation("memory.edits.find", audience="internal", is_long=True)

    project_id: Id
    paths: Annotated[list[Path], Meta(max_length=MOST_PATHS)] = []
    commits: list[str] = []


class Described(Struct, frozen=True, kw_only=True):
    """An edit in its surroundings."""

    origin: EditOrigin | None
    prompt: str | None
    decisions: list[str]
    notes: list[str] = []
    given: str | None = None
    """What the tool was given."""


class DescribeEdit(Request[Described], frozen=True, kw_only=True):
    """Show the surroundings of an edit: its session, the prompt before it, and what was decided there."""

    op = Operation("memory.edits.describe", errors=(EffortNotFound,), audience="internal", is_long=True)

    effort_id: Id
    message_id: Id | None = None
