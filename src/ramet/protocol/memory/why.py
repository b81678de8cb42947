"""Requests and replies about where lines come from."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from ramet.errors import FileMissing, Forbidden, GitFailed, InvalidParams, PathOutside, ProjectNotFound, SessionNotFound
from ramet.model.memory.edit import EditKind
from ramet.protocol.fields import Id, Path
from ramet.protocol.operation import Operation, Request

LineNumber = Annotated[int, Meta(ge=1, le=2**31 - 1)]

Certainty = Literal["edit", "effort", "unknown"]

NotesRef = Annotated[str, Meta(pattern=r"^refs/notes/[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]


class WhyEdit(Struct, frozen=True, kw_only=True):
    """The edit that wrote some lines, as far as it is known."""

    kind: EditKind
    session_id: int | None
    driver: str | None
    tool: str | None
    at: datetime
    commit: str | None
    """The commit of the call in the session's history, for `ramet history show`."""
    command: str | None = None
    """Of a shell command: its first characters."""


class WhySource(Struct, frozen=True, kw_only=True):
    """What some lines come from: the effort and its task, and the edit, prompt and decisions behind them."""

    effort_id: int
    task_id: str
    task_title: str | None
    skill: str
    driver: str | None
    session_id: int | None
    edit: WhyEdit | None
    """None if the effort wrote the lines, but no single edit is known: then they belong to the effort."""
    prompt: str | None
    decisions: list[str]
    notes: list[str]


class WhyRange(Struct, frozen=True, kw_only=True):
    """Lines that follow each other and have the same origin."""

    first: int
    last: int
    git_commit: str | None
    """The commit that brought them; None if they are not committed."""
    certainty: Certainty
    """Whether the edit is known, only the effort, or nothing."""
    source: int | None
    """The place of the origin in `sources`."""


class Why(Struct, frozen=True, kw_only=True):
    """Where the lines of a file come from."""

    path: str
    """Relative to the top of the checkout."""
    project_id: int
    lines: int
    """The lines that were asked for."""
    agent_lines: int
    unknown_lines: int
    ranges: list[WhyRange]
    sources: list[WhySource]
    unread_sessions: int
    """Sessions whose calls could not be read in time. Ask again to continue with them."""
    text: str | None
    """The line, if one was asked for."""


class AskWhy(Request[Why], frozen=True, kw_only=True):
    """Show which commit, edit, prompt, effort and task the lines of a file come from. Lines of people, and lines whose
    origin is not certain, are `unknown`.
    """

    op = Operation(
        "memory.why",
        errors=(ProjectNotFound, PathOutside, InvalidParams, FileMissing, GitFailed, Forbidden, SessionNotFound),
        host="machine",
        ring="project",
    )

    path: Path
    """Absolute. It may be in any checkout of the project."""
    first: LineNumber | None = None
    last: LineNumber | None = None
    session_id: Id | None = None
    """The session that asks. An agent can only ask about its own project."""


class ExportedNotes(Struct, frozen=True, kw_only=True):
    """The notes of commits that were written."""

    ref: str
    commits: int
    """Commits that were read."""
    written: int
    unchanged: int


class ExportNotes(Request[ExportedNotes], frozen=True, kw_only=True):
    """Write which lines of each commit come from efforts, as git notes. Notes have no prompts and no text of files."""

    op = Operation(
        "memory.notes.export",
        errors=(ProjectNotFound, InvalidParams, GitFailed),
        host="machine",
    )

    path: Path
    """Absolute: a checkout of the project."""
    ref: NotesRef = "refs/notes/ramet"
    limit: Annotated[int, Meta(ge=1, le=10_000)] = 500
    """The newest commits to read."""
