"""What the next step of a purge removes, found on a reading connection so that the writer never waits for a search.

No index says which commits carry a content, because every append would pay for it. The plan of a few thousand commits
reads all commits once instead, and a step looks only at those that are newer than the plan.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from ramet.model.history.branch import Span
from ramet.model.history.commit import hash_content
from ramet.model.history.content import IMAGES
from ramet.model.instant import from_datetime, from_iso
from ramet.model.principal import of_session
from ramet.protocol.memory.archives import PlanPurge, PurgePlan, PurgeSpan, ReplyKey
from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile
from ramet.store.history import segments
from ramet.store.memory.purges import MARGIN, find_carried

_sql = QueryFile("memory/purges")

_COMMITS = 2000
"""How many commits a plan is about: each plan reads all commits once, and its answer goes into each step."""
_PAGE = 50_000
"""How many commits are looked at by one statement."""
_EVENTS = 200
_REPLIES = 100
_REPLY_PAGE = 500
_IMAGES = 4
"""Few in one step: an image may have megabytes."""
_SHORTEST = 12
"""A shorter text is found in replies that have nothing to do with the session that said it."""


def plan(db: Connection, request: PlanPurge) -> PurgePlan:
    """The next branch to purge, with what is left of it: contents first, then what was noted beside them."""
    row = db.one(_sql.next)
    if row is None:
        return PurgePlan(branch=None)
    branch, left = row
    session = db.one(_sql.session_of, branch=branch)
    for span in _own_spans(db, branch, None if session is None else session[0]):
        rest = _left_of(db, span)
        if rest is not None:
            return PurgePlan(branch=branch, spans=[_with_carried(db, rest)], left=left)
    if session is not None:
        events = _events(db, session, request.after_event if request.branch == branch else 0)
        if events:
            return PurgePlan(branch=branch, left=left, event_ids=events)
        replies = _replies(db, branch, session)
        if replies:
            return PurgePlan(branch=branch, left=left, replies=replies)
    return PurgePlan(branch=branch, left=left, image_hashes=_unused_images(db)[:_IMAGES])


def _with_carried(db: Connection, span: Span) -> PurgeSpan:
    """The first commits of a span, with their contents that other commits carry too."""
    (newest,) = db.must(_sql.last_commit)
    place = {"segment_id": span.segment_id, "first": span.first, "last": span.last}
    rows = db.all(_sql.blobs_of, **place, limit=_COMMITS)
    last = span.last if len(rows) < _COMMITS else rows[-1][0]
    sent = PurgeSpan(segment_id=span.segment_id, first=span.first, last=last, seen=max(0, newest - MARGIN))
    blob_ids = list({row[1] for row in rows})
    kept: set[int] = set()
    for after in range(0, newest, _PAGE):
        kept |= find_carried(db, sent, blob_ids, after=after, upto=after + _PAGE)
    return replace(sent, kept=sorted(kept))


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


def _events(db: Connection, session: Any, after: int) -> list[int]:
    session_id, effort_id, *_ = session
    found = db.all(_sql.events_of_session, id=session_id, after=after, limit=_EVENTS)
    if not found and db.one(_sql.has_texts, effort_id=effort_id) is None:
        found = db.all(_sql.events_of_effort, id=effort_id, limit=_EVENTS)
    return [int(row[0]) for row in found]


def _replies(db: Connection, branch: str, session: Any) -> list[ReplyKey]:
    """Replies that were kept for a session's own calls, that are about it, or that show what it said."""
    session_id, effort_id, created_at, _ = session
    about = {("session_id", session_id), ("parent_session_id", session_id), ("branch", branch)}
    if db.one(_sql.has_texts, effort_id=effort_id) is None:
        about.add(("effort_id", effort_id))
    since_ms = from_datetime(from_iso(created_at))
    found: list[ReplyKey] = []
    after = {"at_ms": 0, "principal": "", "key": ""}
    while len(found) < _REPLIES:
        rows = db.all(_sql.replies, since_ms=since_ms, **after, limit=_REPLY_PAGE)
        for _, principal, key, reply in rows:
            values = list(_values(msgspec.json.decode(bytes(reply))))
            if principal == of_session(session_id) or not about.isdisjoint(values) or _shows_purged(db, values):
                found.append(ReplyKey(principal=principal, key=key))
        if len(rows) < _REPLY_PAGE:
            break
        after = dict(zip(after, rows[-1][:3], strict=True))
    return found[:_REPLIES]


def _values(decoded: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every plain value in a reply, with the name of its field."""
    if isinstance(decoded, dict):
        for key, value in decoded.items():
            yield from _values(value, key)
    elif isinstance(decoded, list):
        for value in decoded:
            yield from _values(value, name)
    else:
        yield name, decoded


def _shows_purged(db: Connection, values: list[tuple[str, Any]]) -> bool:
    texts = (value for _, value in values if isinstance(value, str) and len(value) >= _SHORTEST)
    return any(db.one(_sql.is_buried, hash=hash_content(text.encode())) is not None for text in texts)


def _unused_images(db: Connection) -> list[str]:
    named = {
        each
        for (metadata,) in db.all(_sql.image_names)
        for each in msgspec.json.decode(metadata).get(IMAGES) or ()
        if isinstance(each, str)
    }
    return [name for (image_hash,) in db.all(_sql.image_hashes) if (name := bytes(image_hash).hex()) not in named]
