"""The compiler: the context that leads to a commit, from the nearest one that was compiled before.

Only what was read outside of a change is kept: a change may still be undone, and its ids and its revision be given
again.
"""

from ramet.engine.context_cache import Kept
from ramet.engine.history import references
from ramet.engine.transaction import Transaction
from ramet.model.history.branch import Point, Span
from ramet.model.history.compilation import Context
from ramet.model.history.content import TypeHints
from ramet.model.history.provider_messages import RENDERERS, Renderer
from ramet.protocol.history.contexts import Format
from ramet.store.history import commits


def compile_context(tx: Transaction, point: Point | None, *, is_changing: bool = False) -> Kept:
    """The context that leads to a commit."""
    revision, hints = commits.find_revision(tx.db), commits.type_hints(tx.db)
    if point is None:
        return Kept(Point(0, b"", 0, 0, 0), revision, hints, Context(hints), {})
    known = tx.contexts.find(point.commit_id, revision, hints)
    if known is not None:
        return known
    spans = references.spans(tx, point)
    base = tx.contexts.find_nearest(spans, revision, hints)
    kept = _extend(tx, base, spans, point, revision, hints)
    if not is_changing:
        tx.contexts.keep(kept)
    return kept


def render(kept: Kept, form: Format) -> Renderer:
    """The whole context as a provider's messages."""
    renderer = kept.renderers.get(form)
    if renderer is None:
        renderer = RENDERERS[form]()
        renderer.feed(kept.context.visible())
        kept.renderers[form] = renderer
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
    return Kept(point, revision, hints, context, renderers)
