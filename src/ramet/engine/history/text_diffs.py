"""How two contexts differ. What they share at their beginning is neither read nor compared."""

import re
from itertools import islice

from ramet.engine.answers import answers
from ramet.engine.history import references
from ramet.engine.history.commits import row
from ramet.engine.history.context_view import ContextView
from ramet.engine.transaction import Transaction
from ramet.errors import InvalidParams
from ramet.model.history.branch import Point, Span
from ramet.model.history.provider_messages import PlainText
from ramet.model.history.text_diff import compare
from ramet.protocol.history.commits import CommitRow
from ramet.protocol.history.contexts import Diff, DiffReply
from ramet.store.history import commits

_MOST_TOKENS = 8_000_000
"""Of both parts that differ, about 32 MB of text. Larger texts are not compared: a reader has 200 MB of memory."""
_EVERY_LINE = 2**31 - 1
_CURSOR = re.compile(r"([0-9a-f]{64}|-):([0-9a-f]{64}|-):([0-9]{1,10})")


@answers(Diff)
def diff(tx: Transaction, request: Diff) -> DiffReply:
    """How two contexts differ: the commits that only one has, and the compiled texts side by side."""
    a, b, first = _start(tx, request)
    base = merge_base(tx, references.spans(tx, a), references.spans(tx, b))
    depth = base.seq if base else 0
    views = ContextView(tx, a), ContextView(tx, b)
    start = min(views[0].unchanged_until(depth), views[1].unchanged_until(depth))
    is_too_large = sum(view.count_tokens(start) for view in views) > _MOST_TOKENS
    old, new = ([], []) if is_too_large else (_texts(views[0], start), _texts(views[1], start))
    differing = compare(old, new, request.a, request.b)
    lines = list(islice(differing, first, first + (request.limit or _EVERY_LINE) + 1))
    has_more = request.limit is not None and len(lines) > request.limit
    return DiffReply(
        base=base.hash.hex() if base else None,
        only_a=_only(tx, a, depth) if not first else [],
        only_b=_only(tx, b, depth) if not first else [],
        text="\n".join(lines[: request.limit]),
        shared=views[0].outline.count_before(start),
        is_too_large=is_too_large,
        next=f"{_name(a)}:{_name(b)}:{first + (request.limit or 0)}" if has_more else None,
    )


def merge_base(tx: Transaction, ours: list[Span], theirs: list[Span]) -> Point | None:
    """The last commit that two histories have in common."""
    common = {span.segment_id: span for span in ours}
    for span in reversed(theirs):
        shared = common.get(span.segment_id)
        if shared is not None:
            last = min(span.last, shared.last)
            return commits.find_at(tx.db, span.segment_id, last)
    return None


def _start(tx: Transaction, request: Diff) -> tuple[Point | None, Point | None, int]:
    """The two contexts, and the first line of the page. A cursor names the commits that were compared."""
    if request.cursor is None:
        return references.place(tx, request.a, "a"), references.place(tx, request.b, "b"), 0
    found = _CURSOR.fullmatch(request.cursor)
    if found is None:
        raise InvalidParams(
            "this is not a cursor of a diff",
            field="cursor",
            value=request.cursor,
            fix="use the `next` of the page before, or leave the cursor out to start again",
        )
    a, b = (None if name == "-" else references.commit(tx, name, "cursor") for name in found.groups()[:2])
    return a, b, int(found[3])


def _name(point: Point | None) -> str:
    return point.hash.hex() if point else "-"


def _only(tx: Transaction, point: Point | None, depth: int) -> list[CommitRow]:
    hints = commits.type_hints(tx.db)
    spans, limit = references.spans(tx, point), tx.limits.page_max
    return [row(tx, stored, hints) for stored in commits.read_newest(tx.db, tx.codec, spans, limit=limit, after=depth)]


def _texts(view: ContextView, start: int) -> list[str]:
    renderer = PlainText()
    for _, piece in view.in_chunks(view.forward(start)):
        renderer.feed([piece])
    return [str(message["content"]) for message in renderer.finish()[0]]
