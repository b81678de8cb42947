"""Removing the texts of sessions and runs: first what their rows say, then their contents, a few at a time.

Only what a session itself said is removed: a history that it inherited is its parent's. A content stays while a commit
outside of all purged parts carries it. Hashes, sizes and numbers stay.
"""

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ramet.model.history.content import PAYLOAD
from ramet.protocol.memory.archives import PurgeSpan, PurgeStep
from ramet.store.database import purge as database_purge
from ramet.store.database.blobs import PURGED, PURGED_TEXT
from ramet.store.database.connection import Connection, to_json
from ramet.store.database.purge import Burial
from ramet.store.database.queries import QueryFile
from ramet.store.history import commits as stored_commits

_sql = QueryFile("memory/purges")

_PURGED = PURGED_TEXT.decode()
MARGIN = 1000
"""How many commits before the newest are looked at again: a server numbers those of concurrent writers out of order."""
_NEWER = 2000
"""How many commits a step looks at that are new since the plan, so that it stays short."""
_ROWS = 200
_TEXTLESS = {"tool_name", "direction", "call_id", "status"}
"""What a payload may keep: it says which tool was called, and nothing of what was said."""


class Branch(Struct, frozen=True):
    """A session as a purge sees it."""

    session_id: int
    effort_id: int
    branch: str
    has_ended: bool
    is_purged: bool
    is_leased: bool


def archive(db: Connection, session_id: int, archived_at: str | None) -> None:
    """Hide a session from lists, or list it again."""
    db.run(_sql.archive, id=session_id, archived_at=archived_at)


def list_below(db: Connection, session_id: int) -> list[Branch]:
    """A session and all below it."""
    return [_branch(row) for row in db.all(_sql.below, id=session_id)]


def list_below_run(db: Connection, run_id: int) -> list[Branch]:
    """The sessions of a run's lines and all below them."""
    return [_branch(row) for row in db.all(_sql.below_run, run_id=run_id)]


def _branch(row: Any) -> Branch:
    return Branch(*row[:3], *map(bool, row[3:]))


def begin(db: Connection, branch: Branch, burial: Burial) -> bool:
    """Remove what a session's rows say, and have its contents removed; whether its effort has no texts any more."""
    db.wipe_deleted()
    db.run(_sql.empty_session, id=branch.session_id, now=burial.purged_at)
    db.run(_sql.empty_pointers, id=branch.session_id, purged=_PURGED)
    is_last = db.one(_sql.has_texts, effort_id=branch.effort_id) is None
    if is_last:
        db.run(_sql.empty_effort, effort_id=branch.effort_id, purged=_PURGED)
        db.run(_sql.empty_phases, effort_id=branch.effort_id)
        db.run(_sql.empty_notices, effort_id=branch.effort_id, purged=_PURGED)
    begin_branch(db, branch.branch, burial)
    return is_last


def find_session(db: Connection, branch: str) -> int | None:
    """The session of a branch."""
    row = db.one(_sql.session_of, branch=branch)
    return None if row is None else int(row[0])


def begin_run(db: Connection, run_id: int, branch: str | None, burial: Burial) -> None:
    """Remove what a run's rows say, and have its conversation removed."""
    db.wipe_deleted()
    db.run(_sql.empty_run, id=run_id, now=burial.purged_at, purged=_PURGED)
    db.run(_sql.empty_findings, id=run_id, purged=_PURGED)
    if branch is not None:
        begin_branch(db, branch, burial)


def begin_branch(db: Connection, branch: str, burial: Burial) -> None:
    """Have the contents of a branch removed."""
    db.run(
        _sql.begin,
        branch=branch,
        purged_by=burial.purged_by,
        purged_at=burial.purged_at,
        reason=burial.reason,
    )


def find_burial(db: Connection, branch: str) -> Burial | None:
    """Who removes the contents of a branch, when and why."""
    row = db.one(_sql.find, branch=branch)
    return None if row is None else Burial(*row)


def finish(db: Connection, branch: str) -> None:
    """The contents of a branch are removed."""
    db.run(_sql.finish, branch=branch)


def empty_span(db: Connection, span: PurgeSpan, limit: int, burial: Burial) -> tuple[int, PurgeSpan | None]:
    """Remove the contents of a few commits; how many these were, and what is left of the span.

    Nothing is removed if so many commits are new since the reader looked that it has to look again.
    """
    db.wipe_deleted()
    rows = db.all(_sql.commits, segment_id=span.segment_id, first=span.first, last=span.last, limit=limit)
    (newest,) = db.must(_sql.last_commit)
    if newest - span.seen > MARGIN + _NEWER:
        return 0, None
    is_last = len(rows) < limit or rows[-1][2] >= span.last
    last = span.last if is_last else rows[-1][2]
    # First: two commits of this part that carry the same content are no reason to keep it.
    db.run(_sql.bury_span, segment_id=span.segment_id, first=span.first, last=last)
    kept = {*span.kept, *find_carried(db, span, [row[4] for row in rows], after=span.seen, upto=newest)}
    removed = sum(_empty_commit(db, row, kept, burial) for row in rows)
    stored_commits.revise(db)
    return removed, None if is_last else replace(span, first=last + 1)


def find_carried(db: Connection, span: PurgeSpan, blob_ids: list[int], *, after: int, upto: int) -> set[int]:
    """Which contents some commits carry that are outside of a span and of all purged parts of the history."""
    found = db.all(_sql.carriers, after=after, upto=upto, ids=to_json(blob_ids))
    return {
        blob_id
        for blob_id, segment_id, first, last in found
        if segment_id != span.segment_id or first < span.first or last > span.last
    }


def _empty_commit(db: Connection, row: Any, kept: set[int], burial: Burial) -> int:
    commit_id, commit_hash, _, metadata, blob_id, blob_hash, size, codec = row
    if metadata is not None and not _is_textless(metadata):
        db.run(_sql.empty_metadata, id=commit_id, metadata=None)
        database_purge.bury(db, "commit", bytes(commit_hash), len(metadata), burial)
    db.run(_sql.empty_tags, id=commit_id)
    if codec == PURGED or blob_id in kept:
        return 0
    database_purge.empty_blob(db, blob_id)
    database_purge.bury(db, "blob", bytes(blob_hash), size, burial)
    return 1


def _is_textless(metadata: str) -> bool:
    decoded = msgspec.json.decode(metadata)
    payload = decoded.get(PAYLOAD)
    return decoded.keys() == {PAYLOAD} and isinstance(payload, dict) and payload.keys() <= _TEXTLESS


def empty_notes(db: Connection, step: PurgeStep) -> bool:
    """Remove a little of what was noted beside the contents of a branch; whether there was nothing."""
    db.wipe_deleted()
    if step.event_ids:
        db.run(_sql.empty_events, ids=to_json(step.event_ids))
    for reply in step.replies:
        db.run(_sql.delete_reply, principal=reply.principal, key=reply.key)
    for name in step.image_hashes:
        db.run(_sql.delete_image, hash=bytes.fromhex(name))
    session_id = find_session(db, step.branch)
    rows: list[Any] = []
    if session_id is not None:
        for query in (_sql.empty_discoveries, _sql.empty_refused_calls):
            rows += db.all(query, id=session_id, limit=_ROWS)
    return not (step.event_ids or step.replies or step.image_hashes or rows)


def list_old_sessions(db: Connection, before: str, limit: int) -> list[int]:
    """Sessions that are older than they are kept."""
    return [int(row[0]) for row in db.all(_sql.old_sessions, before=before, limit=limit)]


def list_old_runs(db: Connection, before: str, limit: int) -> list[int]:
    """Runs that are older than they are kept."""
    return [int(row[0]) for row in db.all(_sql.old_runs, before=before, limit=limit)]


def announced_at(db: Connection, key: str) -> str | None:
    """When the first purge by a rule was announced."""
    row = db.one(_sql.announced, key=key)
    return None if row is None else str(row[0])
