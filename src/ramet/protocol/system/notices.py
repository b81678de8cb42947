"""Requests and replies about notices."""

from ramet.errors import NoticeNotFound
from ramet.model.notice import Notice
from ramet.protocol.fields import Id
from ramet.protocol.operation import Change, Operation, Request
from ramet.protocol.replies import Page


class ListNotices(Request[Page[Notice]], frozen=True, kw_only=True):
    """List the notices that need a person's attention, newest first."""

    op = Operation("fleet.notices", ring="own")

    all: bool = False
    """Whether to include dismissed notices."""


class DismissNotice(Change[Page[Notice]], frozen=True, kw_only=True):
    """Dismiss one notice, or all notices."""

    op = Operation("fleet.dismiss", errors=(NoticeNotFound,))

    notice_id: Id | None = None
    """The notice to dismiss (default: all)."""
