"""Requests and replies about notices."""

from ramet.errors import Forbidden, NoticeNotFound, ProjectNotFound
from ramet.model.notice import Notice
from ramet.protocol.fields import Id
from ramet.protocol.operation import Change, Operation, Pages, Request
from ramet.protocol.pages import Cursor, Limit
from ramet.protocol.replies import Page


class ListNotices(Request[Page[Notice]], frozen=True, kw_only=True):
    """List the notices that need a person's attention, newest first."""

    op = Operation("fleet.notices", errors=(ProjectNotFound, Forbidden), ring="own", is_long=True, pages=Pages())

    all: bool = False
    """Whether to include dismissed notices."""
    project: Id | None = None
    """List only the notices of this project, and those of none (default: all)."""
    limit: Limit | None = None
    """The most notices in one reply (default: `limits.page_max`)."""
    cursor: Cursor | None = None


class DismissNotice(Change[Page[Notice]], frozen=True, kw_only=True):
    """Dismiss one notice, or all notices."""

    op = Operation("fleet.dismiss", errors=(NoticeNotFound, ProjectNotFound))

    notice_id: Id | None = None
    """The notice to dismiss (default: all)."""
    project: Id | None = None
    """Without a notice, dismiss only those that a list of this project has."""
