"""The compiler: keeps what it has compiled, so that one more commit costs one more commit.

What is kept hangs on the commit that it leads to, which never changes, and on a revision, which tells when annotations
changed or commits were deleted (whose ids and places may then name others). Only what was read outside of a change is
kept: a change may still be undone, and its ids and its revision be given again. Losing what is kept costs only time.
"""

import threading
from collections import OrderedDict

from msgspec import Struct

from ramet.engine.history import references
from ramet.engine.transaction import Transaction
from ramet.model.history.branch import Point, Span
from ramet.model.history.compilation import Context
from ramet.model.history.content import TypeHints
from ramet.model.history.provider_messages import RENDERERS, Renderer
from ramet.protocol.history import Format
from ramet.store.history import commits

_MOST_CONTEXTS = 16
_MOST_PIECES = 100_000


class Kept(Struct, frozen=True):
    """A context that leads to a commit, and its renderings."""

    point: Point
    revision: int
    hints: dict[str, TypeHints]
    context: Context
    renderers: dict[str, Renderer]


class Compiler:
    """Contexts by the commit that they lead to, the most recently used last. Threads may share it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, Kept] = OrderedDict()
        self._lock = threading.Lock()

    def compile(self, tx: Transaction, point: Point | None, *, is_changing: bool = False) -> Kept:
        """The context that leads to a commit."""
        revision, hints = commits.find_revision(tx.db), commits.type_hints(tx.db)
        if point is None:
            return Kept(Point(0, b"", 0, 0, 0), revision, hints, Context(hints), {})
        known = self._find(point.commit_id, revision, hints)
        if known is not None:
            return known
        spans = references.spans(tx, point)
        base = self._nearest(spans, revision, hints)
        kept = self._extend(tx, base, spans, point, revision, hints)
        if not is_changing:
            self._keep(kept)
        return kept

    def render(self, kept: Kept, form: Format) -> Renderer:
        """The whole context as a provider's messages."""
        renderer = kept.renderers.get(form)
        if renderer is None:
            renderer = RENDERERS[form]()
            renderer.feed(kept.context.visible())
            kept.renderers[form] = renderer
        return renderer

    def _extend(
        self,
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

    def _find(self, commit_id: int, revision: int, hints: dict[str, TypeHints]) -> Kept | None:
        with self._lock:
            kept = self._kept.get(commit_id)
            if kept is None or kept.revision != revision or kept.hints != hints:
                return None
            self._kept.move_to_end(commit_id)
            return kept

    def _nearest(self, spans: list[Span], revision: int, hints: dict[str, TypeHints]) -> Kept | None:
        """The longest context that is kept and is a beginning of this one."""
        with self._lock:
            usable = [
                kept
                for kept in self._kept.values()
                if kept.revision == revision and kept.hints == hints and _is_within(kept.point, spans)
            ]
        return max(usable, key=lambda kept: kept.point.seq, default=None)

    def _keep(self, kept: Kept) -> None:
        with self._lock:
            self._kept[kept.point.commit_id] = kept
            self._kept.move_to_end(kept.point.commit_id)
            pieces = sum(len(each.context.pieces) for each in self._kept.values())
            while len(self._kept) > 1 and (len(self._kept) > _MOST_CONTEXTS or pieces > _MOST_PIECES):
                _, dropped = self._kept.popitem(last=False)
                pieces -= len(dropped.context.pieces)


def _is_within(point: Point, spans: list[Span]) -> bool:
    return any(span.segment_id == point.segment_id and span.first <= point.seq <= span.last for span in spans)
