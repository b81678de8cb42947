"""Requests and replies about the logs of efforts."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from ramet.errors import EffortNotFound, Forbidden, InvalidParams, PathOutside, ProjectNotFound, SessionNotFound
from ramet.protocol.fields import Id, SessionId, Text
from ramet.protocol.operation import Change, Operation


class LogNoted(Struct, frozen=True, kw_only=True):
    """The log of an effort: its task, the prefix of the effort's files, and the time of the entry."""

    effort_id: int
    task_id: str
    artifact_prefix: str
    at: datetime
    is_repeated: bool = False
    """Whether the same request was answered before. Its entry is then in the log, unless writing it was interrupted."""


class NoteLog(Change[LogNoted], frozen=True, kw_only=True):
    """Record that a log entry was written, and reset the effort's counts of tool calls. Give the session or the
    effort.
    """

    op = Operation(
        "hooks.logged",
        errors=(SessionNotFound, Forbidden, EffortNotFound, InvalidParams),
        ring="own",
        audience="internal",
    )

    session_id: SessionId | None = None
    effort_id: Id | None = None
    text: Text | None = None


class Logged(Struct, frozen=True, kw_only=True):
    """A note, and the log file that it was written to."""

    effort_id: int
    path: str
    entry: str
    size: int
    """The size of the log, in bytes."""


class AppendLog(Change[Logged], frozen=True, kw_only=True):
    """Append a note with its time to an effort's log, and reset the effort's counts of tool calls.

    The effort is the session's, if a session is given. An agent can write only to the log of its own session's effort.
    """

    op = Operation(
        "commands.log.append",
        errors=(SessionNotFound, EffortNotFound, Forbidden, ProjectNotFound, PathOutside, InvalidParams),
        host="machine",
        ring="own",
    )

    text: Annotated[str, Meta(min_length=1, max_length=1_000_000)]
    session_id: SessionId | None = None
    effort_id: Id | None = None
