"""Drafts: what was read of a history before a change, beside the writer, and whether the change can still use it.

A draft is usable if the history only grew by plain turns since it was read: its range then still has the same text.
Otherwise the change reads for itself.
"""

from typing import Any, Generic, TypeVar

from msgspec import Struct

from ramet.engine.contents import Contents, Prepared
from ramet.engine.history import references
from ramet.engine.transaction import Transaction
from ramet.model.history.branch import Head, Point
from ramet.model.history.content import COMPRESSES
from ramet.protocol.history.drafts import InheritanceDraft, ReadState, SummaryDraft
from ramet.protocol.operation import Request
from ramet.store.history import commits

D = TypeVar("D", bound=ReadState)


class Drafted(Request[None], frozen=True, kw_only=True):
    """A request with what was read for it. It never travels: it is made here and performed here."""

    asked: Request[Any]
    found: ReadState


class ReadyDraft(Struct, Generic[D], frozen=True):
    """A draft, and its text that needs no transaction any more."""

    draft: D
    content: Prepared | None


def make_ready(draft: ReadState, contents: Contents) -> ReadyDraft[Any]:
    """Redact, hash and compress the text of a draft."""
    match draft:
        case SummaryDraft():
            return ReadyDraft(draft, contents.prepare(draft.text, {COMPRESSES: [draft.first, draft.last]}))
        case InheritanceDraft(snapshot=str(text)):
            return ReadyDraft(draft, contents.prepare(text))
    return ReadyDraft(draft, None)


def find_usable(tx: Transaction, place: Point | Head | None, kind: type[D]) -> ReadyDraft[D] | None:
    """The draft of this change, if the history that leads to a place tells the same as when it was read."""
    ready = tx.draft
    if ready is None or not isinstance(ready.draft, kind) or ready.draft.revision != commits.find_revision(tx.db):
        return None
    read, spans = commits.find(tx.db, bytes.fromhex(ready.draft.head)), references.spans(tx, place)
    if read is None or not references.is_within(read, spans):
        return None
    return ready if not commits.list_special(tx.db, spans, after=read.seq) else None
