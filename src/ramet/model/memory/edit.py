"""A recorded edit: what one tool call, one shell command or one commit of an effort added to one file."""

from typing import Literal

from msgspec import Struct

EditKind = Literal["tool", "shell", "commit"]


class FileEdit(Struct, frozen=True, kw_only=True):
    """What a tool call says that it changed in one file. `old` is None if the call does not say what was there."""

    path: str
    new: str
    old: str | None = ""


class RecordedEdit(Struct, frozen=True, kw_only=True):
    """One row of `edits`."""

    id: int
    effort_id: int
    session_id: int | None
    message_id: int | None
    kind: EditKind
    path: str
    """Relative to the top of the checkout."""
    part: int
    """Tells edits of one file by the same call or commit apart."""
    at_ms: int
    git_commit: str | None
    """Of a commit: its hash."""
    origin: str | None
    """Of a commit: what a rebase keeps of it (`commit_origin`)."""
    is_certain: bool
    """Whether every line marked as added was added. A call that replaced a whole file may repeat what was there."""
    lines: bytes


class EditMaker(Struct, frozen=True, kw_only=True):
    """The effort that made an edit, as an answer needs it."""

    effort_id: int
    task_id: str
    task_title: str | None
    skill: str
    driver: str | None
    started_ms: int
    ended_ms: int | None
    worktree: str | None
    workspace: str | None
    prompt: str | None


class EditOrigin(Struct, frozen=True, kw_only=True):
    """Where an edit is in the history. Without a call, only the session is known."""

    session_id: int
    driver: str | None
    tool: str | None
    commit: str | None
    """The commit of the call in the session's history."""
    message_id: int | None
