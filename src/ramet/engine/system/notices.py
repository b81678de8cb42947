"""Notices: what a person has to know, told once."""

from ramet.engine import scopes
from ramet.engine.answers import answers
from ramet.engine.transaction import Transaction
from ramet.errors import NoticeNotFound, ProjectNotFound
from ramet.model.notice import Notice, NoticeKind
from ramet.model.record.effort import Effort
from ramet.protocol.pages import cut
from ramet.protocol.replies import Page
from ramet.protocol.system.notices import DismissNotice, ListNotices
from ramet.store import notices
from ramet.store.record import projects, sessions


@answers(ListNotices)
def list_newest(tx: Transaction, request: ListNotices) -> Page[Notice]:
    """What nobody has dismissed yet, or everything."""
    project_id = _project_id(tx, request.project)
    limit = min(request.limit or tx.limits.page_max, tx.limits.page_max)
    before = 2**63 - 1 if request.cursor is None else request.cursor
    found = notices.list_newest(tx.db, limit + 1, before=before, all_of_them=request.all, project_id=project_id)
    page = cut(found, limit, lambda notice: notice.id)
    return Page(items=scopes.only_reachable(tx, page.items, lambda notice: notice.effort_id), next=page.next)


@answers(DismissNotice)
def dismiss(tx: Transaction, request: DismissNotice) -> Page[Notice]:
    """Put a notice aside, or all of them. A second time changes nothing."""
    if request.notice_id is not None and not notices.is_there(tx.db, request.notice_id):
        raise NoticeNotFound(f"there is no notice {request.notice_id}", field="notice_id", value=request.notice_id)
    dismissed = notices.dismiss(tx.db, request.notice_id, _project_id(tx, request.project), tx.now)
    for notice in dismissed:
        tx.record("notice.dismissed", effort_id=notice.effort_id, data={"notice": notice.id})
    return Page(items=dismissed)


def _project_id(tx: Transaction, project_id: int | None) -> int | None:
    if project_id is not None:
        if projects.find(tx.db, project_id) is None:
            raise ProjectNotFound(f"there is no project {project_id}", field="project", value=project_id)
        scopes.require_project(tx, project_id, "project")
    return project_id


def add(tx: Transaction, kind: NoticeKind, effort: Effort, text: str, *, key: str | None = None) -> None:
    """Tell a person about an effort; unless a `key` says otherwise, once for each of its attempts."""
    session = sessions.find_last_of_effort(tx.db, effort.id)
    notice_id = notices.add(
        tx.db,
        kind=kind,
        text=text,
        effort_id=effort.id,
        session_id=session.id if session else None,
        dedupe_key=key or f"{kind}/{effort.id}/{effort.retry.attempts}",
        now=tx.now,
    )
    if notice_id is not None:
        tx.record("notice.added", task_id=effort.task_id, effort_id=effort.id, data={"notice": notice_id, "kind": kind})


def add_about_host(tx: Transaction, text: str, *, key: str) -> None:
    """Tell a person about a host that claims nothing. It is about every project."""
    notice_id = notices.add(
        tx.db, kind="parked", text=text, effort_id=None, session_id=None, dedupe_key=key, now=tx.now
    )
    if notice_id is not None:
        tx.record("notice.added", data={"notice": notice_id, "kind": "parked"})
