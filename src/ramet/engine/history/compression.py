"""Compressing: a summary replaces a range. The originals are kept under the summary."""

from ramet.engine.answers import answers
from ramet.engine.history import commits as histories
from ramet.engine.history import drafts, references
from ramet.engine.history.commits import Kind
from ramet.engine.history.context_view import ContextView
from ramet.engine.transaction import Transaction
from ramet.errors import InvalidRange, ModelMissing
from ramet.model.history.branch import Head, Point
from ramet.model.history.compilation import Piece
from ramet.model.history.content import COMPRESSES
from ramet.model.history.extract import extract
from ramet.protocol.history.commits import CommitReply
from ramet.protocol.history.contexts import Compress
from ramet.protocol.history.drafts import DraftSummary, SummaryDraft
from ramet.store.history import commits

SUMMARY = Kind(content_type="output", role="user")


@answers(Compress)
def compress(tx: Transaction, request: Compress) -> CommitReply:
    """Replace a range with a summary, given or extracted; pinned commits and boundaries stay."""
    head = references.head(tx, request.branch)
    first, last = _range(tx, head, request)
    ready = drafts.find_usable(tx, head, SummaryDraft)
    content = ready.content if ready else None
    if content is None:
        text = _extract(tx, request) if request.text is None else request.text
        content = tx.contents.prepare(text, {COMPRESSES: [first.seq, last.seq]})
    if request.text is not None and not _view(tx, head).has_within(first.seq, last.seq):
        raise _nothing(request)
    done = histories.add(tx, head, content, SUMMARY)
    histories.moved(tx, request.branch, head.commit_id, done.id, "compress")
    return histories.committed(tx, request.branch, done, content)


@answers(DraftSummary)
def draft_summary(tx: Transaction, request: DraftSummary) -> SummaryDraft:
    """The summary that would be extracted now."""
    wanted = Compress(branch=request.branch, from_=request.first, to=request.last, target_tokens=request.target_tokens)
    head = references.head(tx, request.branch)
    first, last = _range(tx, head, wanted)
    return SummaryDraft(
        text=_extract(tx, wanted),
        first=first.seq,
        last=last.seq,
        head=(head.commit_hash or b"").hex(),
        revision=commits.find_revision(tx.db),
    )


def compressible(tx: Transaction, request: Compress) -> list[Piece]:
    """The commits of the range that a summary would replace; there must be some."""
    head = references.head(tx, request.branch)
    first, last = _range(tx, head, request)
    view = _view(tx, head)
    pieces = [piece for _, piece in view.with_texts(view.within(first.seq, last.seq))]
    if not pieces:
        raise _nothing(request)
    return pieces


def _extract(tx: Transaction, request: Compress) -> str:
    if request.method == "model":
        raise ModelMissing("no model has written the summary", field="method", value=request.method)
    return extract(compressible(tx, request), commits.type_hints(tx.db), request.target_tokens)


def _view(tx: Transaction, head: Head) -> ContextView:
    return ContextView(tx, references.point_of(head), is_changing=True)


def _nothing(request: Compress) -> InvalidRange:
    return InvalidRange(
        "there is nothing to compress in this range: every commit is pinned, skipped or already compressed",
        field="from",
        value=request.from_,
    )


def _range(tx: Transaction, head: Head, request: Compress) -> tuple[Point, Point]:
    spans = references.spans(tx, head)
    first = references.within(tx, spans, request.from_, "from")
    last = references.within(tx, spans, request.to, "to")
    if first.seq > last.seq:
        raise InvalidRange(f"commit {request.from_} comes after {request.to}", field="from", value=request.from_)
    if commits.has_merge(tx.db, spans, first.seq, last.seq):
        raise InvalidRange("the range crosses a merge", field="to", value=request.to)
    return first, last
