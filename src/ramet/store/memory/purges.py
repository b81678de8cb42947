"""Removing the texts of sessions and runs: first what their rows say, then their contents, a few at a time.

Only what a session itself said is removed: a history that it inherited is its parent's. A content stays while a commit
outside of all purged parts carries it. Hashes, sizes and numbers stay.
"""

from typing import Any

import msgspec
from msgspec import Struct

from ramet.model.history.branch import Span
from ramet.model.history.content import IMAGES, PAYLOAD
from ramet.model.instant import from_datetime, from_iso
from ramet.protocol.memory.archives import PurgePlan, PurgeSpan
from ramet.store.database import purge as database_purge
from ramet.store.database.blobs import PURGED, PURGED_TEXT
from ramet.store.database.connection import Connection, to_json
from ramet.store.database.purge import Burial
from ramet.store.database.queries import QueryFile
from ramet.store.history import commits as stored_commits
from ramet.store.history import segments

_sql = QueryFile("memory/purges")

_PURGED = PURGED_TEXT.decode()
_EVENTS = 200
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
    rows = db.all(_sql.below, id=session_id)
    return [Branch(*row[:3], *map(bool, row[3:])) for row in rows]


def list_of_run(db: Connection, run_id: int) -> list[int]:
    """The sessions of a run's lines."""
    return [int(row[0]) for row in db.all(_sql.of_run, run_id=run_id)]


def begin(db: Connection, branch: Branch, burial: Burial) -> bool:
    """Remove what a session's rows say, and have its contents removed; whether its effort has no texts any more."""
    db.wipe_deleted()
    db.run(_sql.empty_session, id=branch.session_id, now=burial.purged_at)
    for query in (_sql.empty_discoveries, _sql.empty_refused_calls):
        db.run(query, id=branch.session_id)
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


def plan(db: Connection) -> PurgePlan:
    """The next branch to purge, with what is left of it: contents first, then what was noted beside them."""
    row = db.one(_sql.next)
    if row is None:
        return PurgePlan(branch=None)
    branch, left = row
    session = db.one(_sql.session_of, branch=branch)
    own = _own_spans(db, branch, None if session is None else session[0])
    spans = [rest for rest in (_left_of(db, span) for span in own) if rest is not None]
    if spans:
        return PurgePlan(branch=branch, spans=[_sent(span) for span in spans], left=left)
    return PurgePlan(branch=branch, left=left, event_ids=_events(db, session), image_hashes=_unused_images(db))


def _sent(span: Span) -> PurgeSpan:
    return PurgeSpan(segment_id=span.segment_id, first=span.first, last=span.last)


def _left_of(db: Connection, span: Span) -> Span | None:
    """What is left to purge of a span, from its first place that was not purged."""
    first = span.first
    for begin_seq, last_seq in db.all(_sql.purged_parts, segment_id=span.segment_id):
        if begin_seq <= first:
            first = max(first, last_seq + 1)
    return Span(span.segment_id, first, span.last) if first <= span.last else None


def _own_spans(db: Connection, branch: str, session_id: int | None) -> list[Span]:
    """The parts of a branch that no other history shows."""
    spoken = [] if session_id is None else [Span(*row) for row in db.all(_sql.spoken, id=session_id)]
    head = segments.find_head(db, branch)
    reached = [] if head is None else segments.find_spans(db, head.segment_id, head.seq)
    own: dict[int, Span] = {}
    for span in [*spoken, *reached]:
        known = own.get(span.segment_id, span)
        own[span.segment_id] = Span(span.segment_id, min(known.first, span.first), max(known.last, span.last))
    shown = _shown_elsewhere(db, set(own))
    for span in reached:
        # What was inherited may still be another's, although that one's branch shows it no more.
        first_own = min((each.first for each in spoken if each.segment_id == span.segment_id), default=span.last + 1)
        if first_own > span.first and session_id is not None:
            place = {"segment_id": span.segment_id, "first": span.first, "last": first_own - 1}
            (last,) = db.must(_sql.spoken_by_others, **place, id=session_id)
            shown[span.segment_id] = max(shown.get(span.segment_id, 0), last or 0)
    cut = (
        Span(each.segment_id, max(each.first, shown.get(each.segment_id, 0) + 1), each.last) for each in own.values()
    )
    return sorted((span for span in cut if span.first <= span.last), key=lambda span: span.segment_id)


def _shown_elsewhere(db: Connection, wanted: set[int]) -> dict[int, int]:
    """How far into some segments the histories reach that nobody has purged."""
    bases = {segment_id: (base_id, base_seq) for segment_id, base_id, base_seq in db.all(_sql.bases)}
    shown: dict[int, int] = {}
    for head_segment, head_seq in db.all(_sql.other_heads):
        segment_id: int | None = head_segment
        seq = head_seq
        while segment_id is not None:
            if segment_id in wanted:
                shown[segment_id] = max(shown.get(segment_id, 0), seq)
            segment_id, seq = bases.get(segment_id, (None, 0))
    for segment_id in wanted:
        (linked,) = db.must(_sql.linked, segment_id=segment_id)
        shown[segment_id] = max(shown.get(segment_id, 0), linked or 0)
    return shown


def _events(db: Connection, session: Any) -> list[int]:
    if session is None:
        return []
    session_id, effort_id, *_ = session
    found = db.all(_sql.events_of_session, id=session_id, limit=_EVENTS)
    if not found and db.one(_sql.has_texts, effort_id=effort_id) is None:
        found = db.all(_sql.events_of_effort, id=effort_id, limit=_EVENTS)
    return [int(row[0]) for row in found]


def _unused_images(db: Connection) -> list[str]:
    named = {
        each
        for (metadata,) in db.all(_sql.image_names)
        for each in msgspec.json.decode(metadata).get(IMAGES) or ()
        if isinstance(each, str)
    }
    return [name for (image_hash,) in db.all(_sql.image_hashes) if (name := bytes(image_hash).hex()) not in named]


def empty_span(db: Connection, span: PurgeSpan, limit: int, burial: Burial) -> tuple[int, PurgeSpan | None]:
    """Remove the contents of a few commits; how many these were, and what is left of the span."""
    db.wipe_deleted()
    rows = db.all(_sql.commits, segment_id=span.segment_id, first=span.first, last=span.last, limit=limit)
    if rows:
        last = rows[-1][2]
        # First: two commits of this part that carry the same content are no reason to keep it.
        db.run(_sql.bury_span, segment_id=span.segment_id, first=span.first, last=last)
    removed = sum(_empty_commit(db, row, burial) for row in rows)
    stored_commits.revise(db)
    if len(rows) < limit or rows[-1][2] >= span.last:
        db.run(_sql.bury_span, segment_id=span.segment_id, first=span.first, last=span.last)
        return removed, None
    return removed, PurgeSpan(segment_id=span.segment_id, first=rows[-1][2] + 1, last=span.last)


def _empty_commit(db: Connection, row: Any, burial: Burial) -> int:
    commit_id, commit_hash, _, metadata, blob_id, blob_hash, size, codec = row
    if metadata is not None and not _is_textless(metadata):
        db.run(_sql.empty_metadata, id=commit_id, metadata=None)
        database_purge.bury(db, "commit", bytes(commit_hash), len(metadata), burial)
    db.run(_sql.empty_tags, id=commit_id)
    if codec == PURGED or db.all(_sql.carriers, blob_id=blob_id):
        return 0
    database_purge.empty_blob(db, blob_id)
    database_purge.bury(db, "blob", bytes(blob_hash), size, burial)
    return 1


def _is_textless(metadata: str) -> bool:
    decoded = msgspec.json.decode(metadata)
    payload = decoded.get(PAYLOAD)
    return decoded.keys() == {PAYLOAD} and isinstance(payload, dict) and payload.keys() <= _TEXTLESS


def empty_notes(db: Connection, branch: str, event_ids: list[int], image_hashes: list[str]) -> None:
    """Remove what was noted beside the contents of a branch."""
    db.wipe_deleted()
    if event_ids:
        db.run(_sql.empty_events, ids=to_json(event_ids))
    for name in image_hashes:
        db.run(_sql.delete_image, hash=bytes.fromhex(name))
    session = db.one(_sql.session_of, branch=branch)
    if session is not None and session[3] is not None:
        first, last = (from_datetime(from_iso(each)) for each in session[2:4])
        db.run(_sql.empty_replies, first_ms=first, last_ms=last)


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
