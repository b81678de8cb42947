"""Reading edits: what the calls of recorded sessions changed, derived behind the history.

A hook and a report store the calls anyway, so neither waits for this. It happens when somebody asks where a line comes
from, in steps, and a session that was imported or recorded before gets its edits as well.
"""

import os
import posixpath
import time
from collections.abc import Iterator, Sequence

from ramet.model.memory.edit import FileEdit
from ramet.model.memory.edited_lines import compare, pack
from ramet.protocol.memory.edits import Call, ListCalls, ListUnread, NewEdit, RecordEdits, Unread
from ramet.runner.machine import Machine
from ramet.runner.projects import Site
from ramet.vendors import registry
from ramet.vendors.contract.edits.calls import EditCalls

_PAGE = 200
_SESSIONS = 100


def read_edits(machine: Machine, site: Site, prefix: str, timeout_seconds: float) -> int:
    """Record the edits of a project's sessions; how many sessions are left when the time is over."""
    ends_at = time.monotonic() + timeout_seconds
    seen: set[int] = set()
    while True:
        found = machine.ask(ListUnread(project_id=site.project.id, limit=_SESSIONS)).items
        unread = [session for session in found if session.session_id not in seen]
        if not unread:
            return 0
        for place, session in enumerate(unread):
            if time.monotonic() > ends_at:
                return len(unread) - place
            seen.add(session.session_id)  # one that waits for a result stays on the list
            _read_session(machine, session, _tops(session, site, prefix))
        if len(found) < _SESSIONS or len(seen) > _SESSIONS * 100:
            return 0


def _tops(session: Unread, site: Site, prefix: str) -> list[str]:
    """The tops of the checkouts in which a session's files can be, its own first."""
    roots = [session.worktree, session.workspace, str(site.root), os.path.realpath(site.root), site.project.path]
    ends = f"/{prefix}" if prefix else ""
    return [root.removesuffix(ends).rstrip("/") for root in dict.fromkeys(roots) if root]


def _read_session(machine: Machine, session: Unread, tops: Sequence[str]) -> None:
    vendor = registry.edits().get(session.driver)
    after = session.last_message_id
    while True:
        calls = machine.ask(ListCalls(session_id=session.session_id, after=after, limit=_PAGE)).items
        known = _without_unfinished(calls) if session.is_open else calls
        if not known:
            return
        edits = [edit for call in known for edit in _edits_of(call, vendor, tops)] if vendor else []
        after = known[-1].message_id
        machine.ask(
            RecordEdits(effort_id=session.effort_id, session_id=session.session_id, last_message_id=after, edits=edits)
        )
        if len(known) < len(calls) or len(calls) < _PAGE:
            return


def _without_unfinished(calls: Sequence[Call]) -> Sequence[Call]:
    """The calls up to the last one with a result: what comes behind it may still be at work."""
    last = max((place for place, call in enumerate(calls) if call.result is not None), default=-1)
    return calls[: last + 1]


def _edits_of(call: Call, vendor: EditCalls, tops: Sequence[str]) -> Iterator[NewEdit]:
    """What a call added. One that failed, or whose result is not known, may have changed nothing."""
    if call.result is None or call.is_error:
        return
    parts: dict[str, int] = {}
    for edit in vendor.read(call.tool, call.given, call.result):
        path = _relative(edit.path, tops)
        hunks = compare(edit.old or "", edit.new)
        if path is None or not hunks:
            continue
        part = parts[path] = parts.get(path, -1) + 1
        yield NewEdit(
            kind="tool",
            path=path,
            part=part,
            at_ms=call.at_ms,
            message_id=call.message_id,
            is_certain=_is_certain(edit),
            lines=pack(hunks),
        )


def _is_certain(edit: FileEdit) -> bool:
    return edit.old is not None


def _relative(path: str, tops: Sequence[str]) -> str | None:
    """A path relative to the top of its checkout; None if it is in none of them."""
    if "\0" in path or not path:
        return None
    if not path.startswith("/"):
        normal = posixpath.normpath(path)
        return None if normal.startswith("..") else normal
    normal = posixpath.normpath(path)
    found = [normal[len(top) + 1 :] for top in tops if normal.startswith(f"{top}/")]
    return min(found, key=len) if found else None
