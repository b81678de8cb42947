"""Compressing: a summary replaces a range. The originals are kept under the summary."""

from ramet.engine.answers import answers
from ramet.engine.history import commits as histories
from ramet.engine.history import compiler, references
from ramet.engine.history.commits import Kind
from ramet.engine.transaction import Transaction
from ramet.errors import InvalidRange, ModelMissing
from ramet.model.history.branch import Head, Point
from ramet.model.history.compilation import Piece, is_protected
from ramet.model.history.content import COMPRESSES
from ramet.model.history.extract import extract
from ramet.protocol.history.commits import CommitReply
from ramet.protocol.history.contexts import Compress
from ramet.store.history import commits

SUMMARY = Kind(content_type="output", role="user")


@answers(Compress)
def compress(tx: Transaction, request: Compress) -> CommitReply:
    """Replace a range with a summary, given or extracted; pinned commits and boundaries stay."""
    head = references.head(tx, request.branch)
    first, last = _range(tx, head, request)
    text = request.text
    if text is None:
        if request.method == "model":
            raise ModelMissing("no model has written the summary", field="method", value=request.method)
        pieces = compressible(tx, request)
        text = extract(pieces, commits.type_hints(tx.db), request.target_tokens)
    else:
        compressible(tx, request)
    content = tx.contents.prepare(text, {COMPRESSES: [first.seq, last.seq]})
    done = histories.add(tx, head, content, SUMMARY)
    histories.moved(tx, request.branch, head.commit_id, done.id, "compress")
    return histories.committed(tx, request.branch, done, content)


def compressible(tx: Transaction, request: Compress) -> list[Piece]:
    """The commits of the range that a summary would replace; there must be some."""
    head = references.head(tx, request.branch)
    first, last = _range(tx, head, request)
    kept = compiler.compile_context(tx, references.either(tx, request.branch, None), is_changing=True)
    pieces = [
        piece
        for piece in kept.context.visible()
        if piece.lies_within(first.seq, last.seq) and not is_protected(piece, kept.hints)
    ]
    if not pieces:
        raise InvalidRange(
            "there is nothing to compress in this range: every commit is pinned, skipped or already compressed",
            field="from",
            value=request.from_,
        )
    return pieces


def _range(tx: Transaction, head: Head, request: Compress) -> tuple[Point, Point]:
    spans = references.spans(tx, head)
    first = references.within(tx, spans, request.from_, "from")
    last = references.within(tx, spans, request.to, "to")
    if first.seq > last.seq:
        raise InvalidRange(f"commit {request.from_} comes after {request.to}", field="from", value=request.from_)
    if commits.has_merge(tx.db, spans, first.seq, last.seq):
        raise InvalidRange("the range crosses a merge", field="to", value=request.to)
    return first, last
