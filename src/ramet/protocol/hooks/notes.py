"""Requests and replies about the logs of efforts."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from ramet.errors import EffortNotFound, Forbidden, InvalidParams, PathOutside, ProjectNotFound, SessionNotFound
from ramet.protocol.fields import Id, SessionId, Text
from ramet.protocol.operation import Change, Operation


class LogNoted(Struct, frozen=True, kw_only=True):
    """Whose log it is: the task, and the prefix of the effort's files; and when it was written."""

    effort_id: int
    task_id: str
    artifact_prefix: str
    at: datetime
    is_repeated: bool = False
    """Whether the same request was answered before: its entry is in the log, unless that was cut off in between."""


class NoteLog(Change[LogNoted], frozen=True, kw_only=True):
    """A log entry was written: its effort's sessions count their tool calls anew.

    Somebody wrote a log entry: the sessions of its effort count their tool calls anew. One of the two.
    """

    op = Operation(
        "hooks.logged",
        errors=(SessionNotFound, Forbidden, EffortNotFound, InvalidParams),
        scope="session",
        audience="internal",
    )

    session_id: SessionId | None = None
    effort_id: Id | None = None
    text: Text | None = None


class Logged(Struct, frozen=True, kw_only=True):
    """Where a note was written."""

    effort_id: int
    path: str
    entry: str
    size: int
    """Of the log, in bytes."""


class AppendLog(Change[Logged], frozen=True, kw_only=True):
    """Put a note with its time into the log of an effort; its sessions count their tool calls anew.

    A note for an effort's log. Of the session, else of the effort; an agent writes into its own session's alone.
    """

    op = Operation(
        "commands.log.append",
        errors=(SessionNotFound, EffortNotFound, Forbidden, ProjectNotFound, PathOutside, InvalidParams),
        host="machine",
        scope="session",
    )

    text: Annotated[str, Meta(min_length=1, max_length=1_000_000)]
    session_id: SessionId | None = None
    effort_id: Id | None = None
