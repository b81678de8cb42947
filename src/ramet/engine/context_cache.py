"""The contexts that were compiled before, so that one more commit costs one more commit.

A context is kept by the commit that it leads to, which never changes, and by a revision, which tells when annotations
changed or commits were deleted (whose ids and places may then name others). Losing what is kept costs only time.
"""

import threading
from collections import OrderedDict

from msgspec import Struct

from ramet.model.history.branch import Point, Span
from ramet.model.history.compilation import Context
from ramet.model.history.content import TypeHints
from ramet.model.history.provider_messages import Renderer
from ramet.model.runs.window import Window

_MOST_CONTEXTS = 16
_MOST_WINDOWS = 32
_MOST_PIECES = 100_000


class Kept(Struct, frozen=True):
    """A context that leads to a commit, and its renderings."""

    point: Point
    revision: int
    hints: dict[str, TypeHints]
    context: Context
    renderers: dict[str, Renderer]


class KeptWindow(Struct, frozen=True):
    """The window of a run's conversation up to a commit."""

    point: Point
    revision: int
    hints: dict[str, TypeHints]
    window: Window


class ContextCache:
    """Contexts by the commit that they lead to, the most recently used last. Threads may share it."""

    def __init__(self) -> None:
        self.windows = WindowCache()
        self._kept: OrderedDict[int, Kept] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, commit_id: int, revision: int, hints: dict[str, TypeHints]) -> Kept | None:
        """The context that leads to a commit, if it is still as it was."""
        with self._lock:
            kept = self._kept.get(commit_id)
            if kept is None or kept.revision != revision or kept.hints != hints:
                return None
            self._kept.move_to_end(commit_id)
            return kept

    def find_nearest(self, spans: list[Span], revision: int, hints: dict[str, TypeHints]) -> Kept | None:
        """The longest context that is kept and is a beginning of this one."""
        with self._lock:
            usable = [
                kept
                for kept in self._kept.values()
                if kept.revision == revision and kept.hints == hints and _is_within(kept.point, spans)
            ]
        return max(usable, key=lambda kept: kept.point.seq, default=None)

    def keep(self, kept: Kept) -> None:
        """Keep it, and drop those that were used longest ago."""
        with self._lock:
            self._kept[kept.point.commit_id] = kept
            self._kept.move_to_end(kept.point.commit_id)
            pieces = sum(len(each.context.pieces) for each in self._kept.values())
            while len(self._kept) > 1 and (len(self._kept) > _MOST_CONTEXTS or pieces > _MOST_PIECES):
                _, dropped = self._kept.popitem(last=False)
                pieces -= len(dropped.context.pieces)


class WindowCache:
    """Windows of runs, in the same way. They hold only the turns that fit, so their number is bound enough."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, int], KeptWindow] = OrderedDict()
        self._lock = threading.Lock()

    def list_beginnings(
        self, spans: list[Span], max_tokens: int, revision: int, hints: dict[str, TypeHints]
    ) -> list[KeptWindow]:
        """The windows of one size that are kept and are a beginning of this conversation, the longest first."""
        with self._lock:
            usable = [
                kept
                for kept in self._kept.values()
                if kept.window.max_tokens == max_tokens
                and (kept.revision, kept.hints) == (revision, hints)
                and _is_within(kept.point, spans)
            ]
        return sorted(usable, key=lambda kept: -kept.point.seq)

    def keep(self, kept: KeptWindow) -> None:
        """Keep it, and drop the one that was kept longest ago."""
        with self._lock:
            place = (kept.point.commit_id, kept.window.max_tokens)
            self._kept[place] = kept
            self._kept.move_to_end(place)
            while len(self._kept) > _MOST_WINDOWS:
                self._kept.popitem(last=False)


def _is_within(point: Point, spans: list[Span]) -> bool:
    return any(span.segment_id == point.segment_id and span.first <= point.seq <= span.last for span in spans)
