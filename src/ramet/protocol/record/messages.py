"""Requests and replies about messages."""

from typing import Annotated

from msgspec import Meta

from ramet.errors import SessionNotFound
from ramet.model.record.message import Message, Role
from ramet.protocol.fields import Content, Name, SessionId
from ramet.protocol.operation import Change, Operation, Pages, Request
from ramet.protocol.replies import Page


class AppendMessage(Change[Message], frozen=True, kw_only=True):
    """Append a message to a session's transcript."""

    op = Operation("db.messages.append", errors=(SessionNotFound,))

    session_id: SessionId
    role: Role
    content: Content
    tool_name: Name | None = None


class MessagePage(Page[Message], frozen=True, kw_only=True):
    """A part of a transcript in order; `next` is the offset of the part after it."""

    next: int | None = None
    earlier: int
    """How many messages of the transcript come before these."""


class ListMessages(Request[MessagePage], frozen=True, kw_only=True):
    """List the messages of a session's transcript in order, one page at a time."""

    op = Operation("db.messages.list", errors=(SessionNotFound,), is_long=True, pages=Pages(cursor="offset"))

    session_id: SessionId
    limit: Annotated[int, Meta(ge=1, le=2**31 - 1)] = 100
    offset: Annotated[int, Meta(ge=0, le=2**31 - 1)] = 0
    newest: bool = False
    """Whether to list the last messages, instead of those from `offset` on."""
