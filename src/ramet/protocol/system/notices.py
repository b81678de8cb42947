"""Requests and replies about notices."""

from ramet.errors import NoticeNotFound
from ramet.model.notice import Notice
from ramet.protocol.fields import Id
from ramet.protocol.operation import Change, Operation, Request
from ramet.protocol.replies import Page


class ListNotices(Request[Page[Notice]], frozen=True, kw_only=True):
    """What needs a person's attention, the newest first."""

    op = Operation("fleet.notices", scope="session")

    all: bool = False
    """Those that were dismissed too."""


class DismissNotice(Change[Page[Notice]], frozen=True, kw_only=True):
    """Put a notice aside, or all of them."""

    op = Operation("fleet.dismiss", errors=(NoticeNotFound,))

    notice_id: Id | None = None
    """None dismisses all."""
