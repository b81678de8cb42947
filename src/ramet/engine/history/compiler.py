"""The compiler: the context that leads to a commit, from the nearest one that was compiled before.

Only what was read outside of a change is kept: a change may still be undone, and its ids and its revision be given
again.
"""

from sys import getsizeof

from ramet.engine.context_cache import Kept
from ramet.engine.history import references
from ramet.engine.transaction import Transaction
from ramet.model.history.branch import Point, Span
from ramet.model.history.compilation import Context
from ramet.model.history.content import TypeHints
from ramet.model.history.provider_messages import RENDERERS, Renderer
from ramet.protocol.history.contexts import Format
from ramet.store.history import commits

_FEW = 100
"""So many commits more are read with their texts, because the rest is there."""


def compile_context(tx: Transaction, point: Point | None, *, is_changing: bool = False) -> Kept:
    """The context that leads to a commit."""
    revision, hints = commits.find_revision(tx.db), commits.type_hints(tx.db)
    if point is None:
        return Kept(Point(0, b"", 0, 0, 0), revision, hints, Context(hints), {}, 0)
    known = tx.contexts.find(point.commit_id, revision, hints)
    if known is not None:
        return known
    spans = references.spans(tx, point)
    base = tx.contexts.find_nearest(spans, revision, hints)
    kept = _extend(tx, base, spans, point, revision, hints)
    if not is_changing:
        tx.contexts.keep(kept)
    return kept


def find_kept(tx: Transaction, point: Point | None) -> Kept | None:
    """The context that leads to a commit, if it is kept or is short of it by a few commits."""
    if point is None:
        return None
    revision, hints = commits.find_revision(tx.db), commits.type_hints(tx.db)
    base = tx.contexts.find_nearest(references.spans(tx, point), revision, hints)
    return compile_context(tx, point) if base is not None and point.seq - base.point.seq <= _FEW else None


def render(tx: Transaction, kept: Kept, form: Format) -> Renderer:
    """The whole context as a provider's messages."""
    renderer = kept.renderers.get(form)
    if renderer is None:
        renderer = RENDERERS[form]()
        renderer.feed(kept.context.visible())
        if tx.contexts.find(kept.point.commit_id, kept.revision, kept.hints) is kept:
            kept.renderers[form] = renderer
            tx.contexts.keep(kept)
    return renderer


def _extend(
    tx: Transaction,
    base: Kept | None,
    spans: list[Span],
    point: Point,
    revision: int,
    hints: dict[str, TypeHints],
) -> Kept:
    texts = commits.read_texts(tx.db, tx.codec, spans, after=base.point.seq if base else 0)
    context = (base.context if base else Context(hints)).extended(texts)
    renderers: dict[str, Renderer] = {}
    if base is not None and not context.is_rewritten:
        added = context.visible_from(len(base.context.pieces))
        for form, renderer in base.renderers.items():
            renderers[form] = renderer.copy()
            renderers[form].feed(added)
    text_bytes = sum([getsizeof(text.text) for text in texts], start=base.text_bytes if base else 0)
    return Kept(point, revision, hints, context, renderers, text_bytes)
